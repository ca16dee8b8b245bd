#include "aggregator/pool/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/job/job_state.h"
#include "common/wire/process_fact.h"

namespace l4::pool {

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::logs:
      return "logs";
    case Origin::outcome:
      return "outcome";
    case Origin::folder:
      break;
  }
  return "folder";
}

std::string run_id(std::string_view job, std::int32_t attempt) {
  return fmt::format("{}.{}", job, attempt);
}

Run make_run(const job::JobView& healthy) {
  Run run;
  run.job = healthy.state->id();
  run.attempt = healthy.attempt;
  run.id = run_id(run.job, run.attempt);
  run.nodes = healthy.nodes.size();
  run.ranks = healthy.training_ranks();
  run.lines = healthy.lines;
  run.slowed = diagnose::slowed_by(healthy);
  const auto lines = diagnose::lines_by_node(healthy);
  std::vector<std::pair<std::uint64_t, const job::EventView*>> order;
  for (const job::EventView& event : healthy.events) {
    if (event.text.empty() || event.text.size() > kTextBytesMax) continue;
    order.emplace_back(event.count, &event);
  }
  std::ranges::stable_sort(order, std::greater<>{},
                           &std::pair<std::uint64_t, const job::EventView*>::first);
  if (order.size() > kEventsMax) order.resize(kEventsMax);
  run.left_out = healthy.events.size() - order.size();
  run.events.reserve(order.size());
  for (const auto& [count, event] : order) {
    Event& kept = run.events.emplace_back();
    kept.id = event->id;
    kept.text = event->text;
    kept.level = event->level;
    const auto counts = diagnose::counts_by_node(healthy, *event);
    std::size_t with = 0;
    for (std::size_t node = 0; node < counts.size(); ++node) {
      if (counts[node] == 0) continue;
      ++with;
      kept.node_count_max = std::max(kept.node_count_max, counts[node]);
      kept.node_rate_max = std::max(
          kept.node_rate_max, static_cast<double>(counts[node]) /
                                  static_cast<double>(std::max<std::uint64_t>(lines[node], 1)));
    }
    kept.node_share =
        counts.empty() ? 0 : static_cast<double>(with) / static_cast<double>(counts.size());
  }
  std::ranges::sort(run.events, {}, &Event::id);
  return run;
}

bool ended_badly(const job::JobView& view) {
  return std::ranges::any_of(view.ranks, [](const job::RankView& rank) {
    if (rank.process == nullptr || rank.process->state != wire::ProcessState::gone) return false;
    const wire::Exit& exit = rank.process->exit;
    return exit.kind != wire::Exit::Kind::unseen &&
           exit != wire::Exit{wire::Exit::Kind::code, 0, exit.by};
  });
}

}  // namespace l4::pool
