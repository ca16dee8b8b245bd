#include "aggregator/diagnose/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace l4::diagnose {
namespace {

/// A rank of an unknown node that is more suspect than any node.
const SuspectRank* lone_rank(const Report& report) {
  if (report.verdict.scope != Scope::rank || report.ranks.empty()) return nullptr;
  const SuspectRank& first = report.ranks.front();
  if (!first.node.empty() || !first.rank) return nullptr;
  return report.nodes.empty() || first.score > report.nodes.front().score ? &first : nullptr;
}

std::string where(const Report& report) {
  if (const SuspectRank* rank = lone_rank(report))
    return fmt::format(" on rank {}", rank->rank->value());
  if (report.nodes.empty()) return "";
  const SuspectNode& first = report.nodes.front();
  switch (report.verdict.scope) {
    case Scope::rank:
      if (!first.ranks.empty())
        return fmt::format(" on rank {} ({})", first.ranks.front().value(), first.node);
      return fmt::format(" on {}", first.node);
    case Scope::node:
      return fmt::format(" on {}", first.node);
    case Scope::several:
      return fmt::format(" on {} nodes", report.nodes.size());
    case Scope::all:
      return " on all nodes alike";
    default:
      return "";
  }
}

std::string when(const Report& report) {
  std::string text;
  if (report.verdict.iteration)
    text += fmt::format(" in iteration {}", report.verdict.iteration->value());
  else if (report.verdict.stage != Stage::unknown)
    text += fmt::format(" during {}", name(report.verdict.stage));
  return text;
}

/// A line as the end of a sentence.
std::string at_end(std::string_view text) {
  constexpr std::size_t kMax = 120;
  if (text.size() > kMax) {
    text = text.substr(0, text.find_last_of(' ', kMax));
    return fmt::format(": {} …", text.substr(0, kMax));
  }
  return fmt::format(": {}", text.substr(0, text.find_last_not_of(" .:") + 1));
}

/// The known fault behind a root event, else the text of the root event, else the reason why the
/// node is suspect.
std::string cause(const Report& report) {
  for (const IndicatingEvent& event : report.events) {
    if (event.role != Role::root) continue;
    for (const KnownFault& fault : report.faults)
      if (fault.id != kUnknownFault &&
          std::ranges::find(fault.evidence, event.id) != fault.evidence.end())
        return fault.stopped_by.empty() ? ": " + fault.title : ": stopped by " + fault.stopped_by;
    return at_end(event.text);
  }
  const bool singled_out =
      report.verdict.scope == Scope::rank || report.verdict.scope == Scope::node;
  if (!singled_out) return "";
  const SuspectRank* lone = lone_rank(report);
  if (lone == nullptr && report.nodes.empty()) return "";
  const auto& reasons = lone != nullptr ? lone->why : report.nodes.front().why;
  if (reasons.empty()) return "";
  const std::string& why = reasons.front();
  constexpr std::string_view kIts = "its ";
  return why.starts_with(kIts) ? ", whose " + why.substr(kIts.size()) : ", which " + why;
}

}  // namespace

std::string summarise(const Report& report) {
  switch (report.verdict.state) {
    case State::healthy:
      return report.job.nodes == 0 ? "Nothing was read."
                                   : "The job was running well when the logs end.";
    case State::finished:
      return report.verdict.because.empty()
                 ? "The job ended well."
                 : fmt::format("The job ended well: {}.", report.verdict.because);
    case State::crashed:
      return fmt::format("The job crashed{}{}{}.", when(report), where(report), cause(report));
    case State::hung:
      return fmt::format("The job hung{}{}{}.", when(report), where(report), cause(report));
    case State::slow:
      return fmt::format("The job became slow{}{}{}.", when(report), where(report), cause(report));
    case State::node_lost:
      return fmt::format("A node was lost{}{}.", when(report), where(report));
    case State::launch_failed:
      return fmt::format("The job failed before its first iteration{}{}.", where(report),
                         cause(report));
    default:
      return fmt::format("The logs do not tell how the job stands: {}.",
                         report.verdict.because.empty()
                             ? "they end, and nothing says whether it went on"
                             : report.verdict.because);
  }
}

}  // namespace l4::diagnose
