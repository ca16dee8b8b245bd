#include "tests/aggregator/watch/watched_job.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace l4::watch::test {

Options quick_options() {
  Options options;
  options.suspect_floor = Millis{10'000};
  options.confirm_floor = Millis{60'000};
  return options;
}

WatchedJob::WatchedJob(int nodes, Options options)
    : watch(options), nodes_(static_cast<std::size_t>(nodes)) {}

wire::Batch WatchedJob::batch_of(int index) {
  Node& node = nodes_[static_cast<std::size_t>(index)];
  wire::Batch batch;
  batch.agent = "node-" + std::to_string(index);
  batch.job = "job";
  if (!node.defined) {
    wire::SourceDefinition source;
    source.id = SourceId{++node.source};
    source.path = batch.agent + "/rank.log";
    source.node = batch.agent;
    source.kind = wire::SourceKind::rank;
    source.rank = Rank{index};
    source.attempt = node.attempt;
    batch.sources.push_back(source);
    node.defined = true;
  }
  return batch;
}

wire::Segment& WatchedJob::line(wire::Batch& batch, int index, const std::string& text, Level level,
                                Stage stage, std::uint8_t marks) {
  Node& node = nodes_[static_cast<std::size_t>(index)];
  const auto [known, created] =
      node.known.try_emplace(text, static_cast<std::uint32_t>(node.known.size() + 1));
  if (created) {
    wire::TemplateDefinition definition;
    definition.id = known->second;
    definition.text = text;
    definition.level = level;
    definition.marks = marks;
    definition.skeletons = {Skeleton{std::hash<std::string>{}(text)}};
    batch.templates.push_back(definition);
  }
  wire::Segment segment;
  segment.source = SourceId{node.source};
  segment.stage = stage;
  ++node.line;
  segment.lines = {node.line, node.line};
  segment.timed_last_line = node.line;
  segment.begin = segment.end = after(now);
  segment.arrival_begin = segment.arrival_end = after(now);
  segment.events = {{known->second, 1, node.line, after(now)}};
  segment.order = {{known->second, 1}};
  return batch.segments.emplace_back(std::move(segment));
}

void WatchedJob::give(const wire::Batch& batch) {
  REQUIRE(state.apply(batch));
  watch.applied(state, batch, after(now));
  look();
}

void WatchedJob::iterate(int node, std::int64_t iteration, std::int64_t ms) {
  run_to(ms);
  wire::Batch batch = batch_of(node);
  wire::Segment& segment =
      line(batch, node, "iteration <*> done", Level::info, Stage::training, wire::kMarkIteration);
  segment.iteration = Iteration{iteration};
  segment.boundary = wire::Boundary::completed;
  give(batch);
}

std::int64_t WatchedJob::iterate_all(std::int64_t first, std::int64_t last, std::int64_t ms,
                                     std::int64_t pace) {
  for (std::int64_t k = first; k <= last; ++k)
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
      iterate(node, k, ms + (k - first) * pace + 10 * node);
  return now;
}

void WatchedJob::say(int node, const std::string& text, std::int64_t ms, Level level, Stage stage,
                     std::uint8_t marks) {
  run_to(ms);
  wire::Batch batch = batch_of(node);
  line(batch, node, text, level, stage, marks);
  give(batch);
}

void WatchedJob::say_all(const std::string& text, std::int64_t ms, Stage stage) {
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    say(node, text, ms, Level::info, stage);
}

void WatchedJob::process(int index, wire::ProcessState how, std::int64_t ms, wire::Exit exit,
                         std::int32_t attempt) {
  run_to(ms);
  Node& node = nodes_[static_cast<std::size_t>(index)];
  wire::Batch batch = batch_of(index);
  wire::ProcessFact fact;
  fact.boot_id = "boot";
  fact.pid = wire::Pid{node.pid + attempt};
  fact.started_boot = std::chrono::seconds{attempt};
  fact.started = kBegin;
  fact.part = wire::Part::rank;
  fact.node = batch.agent;
  fact.rank = Rank{index};
  fact.attempt = attempt;
  fact.world_size = static_cast<std::int32_t>(nodes_.size());
  fact.state = how;
  fact.since = after(now);
  fact.exit = exit;
  batch.processes.push_back(fact);
  give(batch);
}

void WatchedJob::processes(std::int64_t ms, std::int32_t attempt) {
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    process(node, wire::ProcessState::sleeping, ms, {}, attempt);
}

void WatchedJob::restart(int index, std::int32_t attempt) {
  Node& node = nodes_[static_cast<std::size_t>(index)];
  node.attempt = attempt;
  node.defined = false;
  node.line = 0;
}

void WatchedJob::look() {
  std::vector<Trigger> due = watch.due(after(now));
  for (Trigger& trigger : due) due_.push_back({std::move(trigger), now});
  if (!due.empty()) diagnosed(answer);
}

void WatchedJob::run_to(std::int64_t ms) {
  // Polls only when the watch asks for it, which must be enough.
  for (int looks = 0; looks < 10'000; ++looks) {
    const auto next = watch.next_check();
    if (!next || *next > after(ms)) break;
    now = std::max(now, (*next - kBegin).count());
    const std::size_t before = due_.size();
    look();
    if (watch.next_check() == next && due_.size() == before) FAIL("looks in vain at ", now);
  }
  now = std::max(now, ms);
}

void WatchedJob::diagnosed(State found) {
  diagnose::Report report;
  report.verdict.state = found;
  watch.diagnosed(report, after(now));
}

std::vector<Cause> WatchedJob::causes() {
  std::vector<Cause> causes;
  for (const Due& due : due_) causes.push_back(due.trigger.cause);
  due_.clear();
  return causes;
}

Trigger WatchedJob::trigger(Cause cause) const {
  const auto found =
      std::ranges::find(due_, cause, [](const Due& due) { return due.trigger.cause; });
  REQUIRE_MESSAGE(found != due_.end(), name(cause));
  return found->trigger;
}

std::int64_t WatchedJob::due_at(Cause cause) const {
  const auto found =
      std::ranges::find(due_, cause, [](const Due& due) { return due.trigger.cause; });
  REQUIRE_MESSAGE(found != due_.end(), name(cause));
  return found->ms;
}

}  // namespace l4::watch::test
