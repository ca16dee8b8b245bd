#include "agent/daemon/own_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace l4::daemon {
namespace {

constexpr Millis kAgainAfter{600'000};
constexpr std::size_t kRememberedMax = 1024;

spdlog::level::level_enum level_of(OwnLog::Weight weight) {
  switch (weight) {
    case OwnLog::Weight::info:
      return spdlog::level::info;
    case OwnLog::Weight::warning:
      return spdlog::level::warn;
    case OwnLog::Weight::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

OwnLog::OwnLog(bool journal) : journal_(journal) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  auto logger = std::make_shared<spdlog::logger>("l4-agent", std::move(sink));
  logger->set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

bool OwnLog::write(Weight weight, std::string_view text, Millis steady) {
  if (written_.size() >= kRememberedMax) written_.clear();
  const auto [at, fresh] = written_.try_emplace(std::string(text), Written{steady, 0});
  if (!fresh) {
    if (steady - at->second.at < kAgainAfter) {
      ++at->second.again;
      return false;
    }
  }
  const std::uint64_t again = at->second.again;
  at->second = {steady, 0};
  constexpr const char* kMarks[] = {"<6>", "<4>", "<3>"};
  const char* mark = journal_ ? kMarks[static_cast<std::size_t>(weight)] : "";
  const std::string repeated = again > 0 ? fmt::format(" (said {} times more)", again) : "";
  std::string line = mark;
  line.append(text).append(repeated);
  spdlog::default_logger_raw()->log(level_of(weight), spdlog::string_view_t(line));
  return true;
}

void OwnLog::recovered(std::string_view text, Millis steady) {
  if (const auto at = written_.find(text); at != written_.end()) written_.erase(at);
  write(Weight::info, text, steady);
}

}  // namespace l4::daemon
