#include "aggregator/diagnose/clues/clue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace l4::diagnose::clues {
namespace {

constexpr std::array<std::string_view, kClueKinds> kKinds{
    "process_stopped", "process_traced",   "process_waits",
    "process_gone",    "process_followed", "agent_lost",
    "cause",           "accuser",          "echo",
    "blamed",          "named_by_peers",   "odd_iteration",
    "differs",         "late_start",       "slow_phase",
    "held_up",         "turned",           "first",
    "first_to_echo",   "silent",           "silent_launcher",
    "silent_first",    "habit_stopped",    "behind",
    "logs_stopped",    "dragged",          "isolated",
    "nic_errors",      "nic_silent_first", "network_first",
    "network_slow",    "absent",           "as_published",
};
constexpr std::array<std::string_view, 17> kFacts{
    "event", "text",  "exit", "signal", "since",    "iteration", "timer",   "nic",   "counter",
    "peer",  "count", "of",   "ms",     "usual_ms", "score",     "trouble", "place",
};

static_assert(!kKinds.back().empty() && !kFacts.back().empty());

const Fact* find(const Facts& facts, FactKind kind) {
  const auto found = std::ranges::find(facts, kind, &Fact::kind);
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name(ClueKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view name(FactKind kind) {
  return kFacts[static_cast<std::size_t>(kind)];
}

std::string text(const Fact& fact) {
  if (const auto* const time = std::get_if<TimeMs>(&fact.value)) return to_rfc3339(*time);
  const auto* const number = std::get_if<double>(&fact.value);
  if (number == nullptr) return std::get<std::string>(fact.value);
  return std::trunc(*number) == *number ? fmt::format("{:.0f}", *number)
                                        : fmt::format("{:.1f}", *number);
}

std::string text_of(const Facts& facts, FactKind kind) {
  const Fact* const found = find(facts, kind);
  return found == nullptr ? std::string() : text(*found);
}

double number_of(const Facts& facts, FactKind kind) {
  const Fact* const found = find(facts, kind);
  const double* const number = found == nullptr ? nullptr : std::get_if<double>(&found->value);
  return number == nullptr ? 0 : *number;
}

}  // namespace l4::diagnose::clues
