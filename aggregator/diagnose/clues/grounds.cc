#include "aggregator/diagnose/clues/grounds.h"

#include <algorithm>
#include <cmath>

namespace l4::diagnose::clues {
namespace {

constexpr std::array<std::string_view, kClaims> kClaimNames{"state", "node", "event"};
constexpr std::array<std::string_view, kGroundKinds> kGroundNames{
    "said_well",     "ended_well",   "slowed",        "dragged",       "waited_early",
    "stopped_early", "start_failed", "stood_early",   "start_guessed", "start_unseen",
    "lost",          "stood",        "waited",        "failed",        "gone",
    "untold",        "silent",       "silent_start",  "silent_lost",   "suspected",
    "short_log",     "blind",        "running",       "fatal",         "caused",
    "compared",      "unread",       "pooled",        "doubts",        "near_wait",
    "shown",         "missing",      "base",          "by_line",       "by_accusation",
    "by_process",    "by_silence",   "by_comparison", "by_order",      "by_echo",
    "score",         "margin",       "alike",         "crowd",         "many",
    "agreeing",      "hung",         "launch",        "slow",          "compared",
    "unread",        "pooled",       "missing",       "outsider",      "absent",
    "base",          "fatal",        "quiet",         "known",         "general",
    "coded",         "by_words",     "echo",          "after",         "earliest",
    "of_first",      "few_nodes",    "rivals",        "wraps",         "compared",
    "unread",        "pooled",
};
static_assert(!kGroundNames.back().empty());

}  // namespace

Claim claim_of(GroundKind kind) {
  if (kind < GroundKind::node_base) return Claim::state;
  return kind < GroundKind::event_base ? Claim::node : Claim::event;
}

std::string_view name(Claim claim) {
  return kClaimNames[static_cast<std::size_t>(claim)];
}

std::string_view name(GroundKind kind) {
  return kGroundNames[static_cast<std::size_t>(kind)];
}

std::optional<Claim> claim_named(std::string_view name) {
  const auto at = std::ranges::find(kClaimNames, name);
  if (at == kClaimNames.end()) return std::nullopt;
  return static_cast<Claim>(at - kClaimNames.begin());
}

std::optional<GroundKind> ground_named(Claim claim, std::string_view name) {
  for (std::size_t i = 0; i < kGroundKinds; ++i) {
    const auto kind = static_cast<GroundKind>(i);
    if (claim_of(kind) == claim && kGroundNames[i] == name) return kind;
  }
  return std::nullopt;
}

double confidence(const Grounds& grounds, const GroundRows& rows) {
  double odds = 0, most = kConfidenceMost;
  for (const Ground& ground : grounds) {
    if (!std::isfinite(ground.value) || ground.value == 0) continue;
    const GroundRow& row = rows[static_cast<std::size_t>(ground.kind)];
    odds += row.weight * ground.value;
    most = std::min(most, row.most);
  }
  return std::min(most, 1 / (1 + std::exp(-odds)));
}

}  // namespace l4::diagnose::clues
