#include "aggregator/alert/brief.h"

#include <fmt/format.h>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"

namespace l4::alert {
namespace {

constexpr std::size_t kTextMax = 600, kNameMax = 120;

template <class List, class Text>
std::string joined(const List& list, Text text) {
  std::string all;
  for (const auto& one : list) all += (all.empty() ? "" : ", ") + text(one);
  return all;
}

}  // namespace

std::string brief(std::string_view text, std::size_t cells) {
  return serve::cut(serve::harmless(text), cells);
}

std::string headline(const Alert& alert) {
  std::string summary = brief(alert.summary, kTextMax);
  if (alert.job.empty()) return summary;
  const std::string job = brief(alert.job, kNameMax);
  if (!alert.notice.empty())
    return fmt::format("{}: job {} attempt {}: {}", is_over(alert) ? "notice is over" : "notice",
                       job, alert.attempt, summary);
  if (alert.kind == Kind::resolved)
    return fmt::format("resolved: job {} attempt {}: {}", job, alert.attempt, summary);
  return fmt::format("job {} attempt {} {}: {}", job, alert.attempt, name(alert.state), summary);
}

std::vector<std::pair<std::string, std::string>> details(const Alert& alert) {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto add = [&rows](const char* key, std::string_view text, std::size_t most = kTextMax) {
    if (!text.empty()) rows.emplace_back(key, brief(text, most));
  };
  const auto same = [](const std::string& text) { return brief(text, kNameMax); };
  const auto number = [](Rank rank) { return std::to_string(rank.value()); };
  add("summary", alert.summary);
  if (!alert.job.empty() && alert.notice.empty()) add("state", name(alert.state));
  if (alert.stage != Stage::unknown) add("stage", name(alert.stage));
  if (alert.iteration) add("iteration", std::to_string(alert.iteration->value()));
  if (!alert.nodes.empty()) add("node", alert.nodes.front(), kNameMax);
  add("nodes", joined(alert.nodes, same), 2 * kTextMax);
  if (!alert.ranks.empty()) add("rank", number(alert.ranks.front()));
  add("ranks", joined(alert.ranks, number));
  if (!alert.faults.empty()) {
    const Fault& fault = alert.faults.front();
    add("fault", fault.title);
    add("fault_id", fault.id, kNameMax);
    add("category", fault.category, kNameMax);
    add("cause", fault.cause);
    add("fix", fault.fix);
  }
  if (!alert.job.empty() && alert.notice.empty() && !is_over(alert))
    add("confidence", serve::json_number(alert.confidence));
  if (alert.since) add("since", to_rfc3339(*alert.since));
  return rows;
}

}  // namespace l4::alert
