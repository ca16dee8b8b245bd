#include "aggregator/diagnose/report.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace l4::diagnose {
namespace {

constexpr std::array<std::string_view, 8> kWhys{"new",   "spatial", "temporal", "first",
                                                "fatal", "accused", "fault",    "stall"};
constexpr std::array<std::string_view, 4> kProcesses{"unknown", "alive", "gone", "stopped"};
constexpr std::array<std::string_view, 5> kReplies{"answered", "empty", "late", "off", "refused"};

}  // namespace

std::string_view name(Why why) {
  return kWhys[static_cast<std::size_t>(why)];
}
std::string_view name(Process process) {
  return kProcesses[static_cast<std::size_t>(process)];
}
std::string_view name(Reply reply) {
  return kReplies[static_cast<std::size_t>(reply)];
}

std::vector<wire::Parameter> parameters_of(const IndicatingEvent& event) {
  std::vector<wire::Parameter> all;
  all.reserve(event.parameters.size());
  for (const ParameterCount& one : event.parameters) all.push_back({one.kind, one.value});
  return all;
}

}  // namespace l4::diagnose
