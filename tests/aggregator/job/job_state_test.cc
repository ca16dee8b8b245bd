// Batches in, the same job out, in whatever order the agents report.
#include "aggregator/job/job_state.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "aggregator/job/clock.h"
#include "common/drain/template_miner.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::MadeJob;

std::string text(std::optional<TimeMs> time) {
  return time ? to_rfc3339(*time) : "-";
}
template <class Id>
std::string text(std::optional<Id> id) {
  return id ? std::to_string(id->value()) : "-";
}

/// Everything that a view and its clock say, as text.
std::string dump(const JobView& view) {
  std::string out = fmt::format("{} lines {}..{}\n", view.lines, text(view.begin), text(view.end));
  for (const NodeView& node : view.nodes)
    out += fmt::format("{} {} {}..{}\n", node.name, node.ranks.size(), text(node.begin),
                       text(node.end));
  for (const RankView& rank : view.ranks)
    out += fmt::format("rank {} of {}: {} lines, completed {} at {}, {}..{}\n", text(rank.rank),
                       rank.node, rank.lines, text(rank.completed), text(rank.completed_time),
                       text(rank.begin), text(rank.end));
  for (const EventView& event : view.events) {
    out += fmt::format("{} {} {} {} x{}\n", to_string(event.id), event.text, name(event.level),
                       event.marks, event.count);
    for (const Occurrence& at : event.at)
      out += fmt::format("  on {} x{} first {} line {}\n", at.stream, at.stats.count, text(at.time),
                         at.stats.first_line);
  }
  const JobClock clock = make_clock(view);
  for (const ClockTick& tick : clock.ticks)
    out += fmt::format("{} {} {} {}\n", tick.iteration.value(), text(tick.first_done),
                       text(tick.last_done), tick.duration_ms);
  return out;
}

/// A job whose nodes print different lines, at different rates and times.
MadeJob random_job(std::mt19937_64& random) {
  MadeJob job(2 + static_cast<int>(random() % 6), 1 + static_cast<int>(random() % 3));
  for (std::int64_t k = 1; k <= 20; ++k)
    for (int rank = 0; rank < job.ranks(); ++rank) {
      for (std::size_t i = random() % 3; i > 0; --i)
        job.say(
            rank,
            {fmt::format("{0}ing the {0}er met {0}ity", "abcdefgh"[random() % 8]), Level::warning},
            k * 1000 - 500);
      if (random() % 20 != 0)
        job.iterate(rank, k, k * 1000 + static_cast<std::int64_t>(random() % 50));
    }
  return job;
}

/// Cuts each agent's batch into several that keep its order; definitions go first.
std::vector<std::vector<wire::Batch>> cut(const MadeJob& job, std::mt19937_64& random) {
  std::vector<std::vector<wire::Batch>> agents;
  for (const wire::Batch& whole : job.batches()) {
    std::vector<wire::Batch> parts(1);
    parts[0] = whole;
    parts[0].segments.clear();
    for (const wire::Segment& segment : whole.segments) {
      if (random() % 5 == 0) {
        parts.emplace_back();
        parts.back().agent = whole.agent;
        parts.back().sequence = parts.size();
      }
      parts.back().segments.push_back(segment);
    }
    agents.push_back(std::move(parts));
  }
  return agents;
}

std::string dump_in_order(std::vector<std::vector<wire::Batch>> agents, std::mt19937_64& random) {
  TemplateTable templates;
  JobState state("made", 0, templates);
  std::vector<std::size_t> next(agents.size(), 0);
  std::vector<std::size_t> left(agents.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    const std::size_t pick = random() % left.size();
    const std::size_t agent = left[pick];
    CHECK(state.apply(agents[agent][next[agent]]).has_value());
    if (++next[agent] == agents[agent].size())
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  return dump(make_view(state, 0, false));
}

TEST_CASE("the order of the agents' batches changes nothing") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    MadeJob job = random_job(random);
    const auto agents = cut(job, random);
    const std::string expected = dump(job.view());
    for (int order = 0; order < 4; ++order) CHECK(dump_in_order(agents, random) == expected);
  }
}

TEST_CASE("counts are those of the batches") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  MadeJob job = random_job(random);
  std::map<std::string, std::uint64_t> said;
  std::uint64_t lines = 0;
  for (const wire::Batch& batch : job.batches()) {
    std::map<LocalTemplateId, std::string> texts;
    for (const auto& definition : batch.templates) texts[definition.id] = definition.text;
    for (const wire::Segment& segment : batch.segments)
      for (const wire::EventCount& event : segment.events) {
        said[texts[event.id]] += event.count;
        lines += event.count;
      }
  }
  const JobView view = job.view();
  CHECK(view.lines == lines);
  CHECK(view.events.size() == said.size());
  for (const EventView& event : view.events) CHECK(event.count == said[event.text]);
}

TEST_CASE("ranks share what may be kept of iterations, and each keeps enough") {
  constexpr int kNodes = 4, kIterations = 300;
  MadeJob job(kNodes);
  for (int rank = 0; rank < job.ranks(); ++rank)
    for (std::int64_t k = 1; k <= kIterations; ++k) job.iterate(rank, k, k * 1000);
  const auto kept = [&](Limits limits) {
    TemplateTable templates;
    JobState state("made", 0, templates, limits);
    for (const wire::Batch& batch : job.batches()) CHECK(state.apply(batch).has_value());
    std::set<std::size_t> sizes;
    for (const auto& [name, agent] : state.agents())
      for (const auto& [id, stream] : agent.streams) sizes.insert(stream.iterations.size());
    return sizes;
  };
  const auto ranks = static_cast<std::size_t>(job.ranks());
  CHECK(kept({}) == std::set<std::size_t>{kIterations});
  // The sources of the last agent are defined last; the other sources get their smaller share with
  // their next batch.
  CHECK(*kept({.iterations_soft = ranks * 200, .iterations_enough = 100}).begin() == 200);
  CHECK(*kept({.iterations_soft = ranks * 10, .iterations_enough = 100}).begin() == 100);
  CHECK(*kept({.iterations = ranks * 80, .iterations_soft = 1, .iterations_enough = 100}).begin() ==
        80);
  CHECK(*kept({.iterations = 1, .iterations_soft = 1, .iterations_enough = 100}).begin() ==
        Stream::kIterationsLeast);
}

TEST_CASE("a segment of a source that was never defined is an error, what came before stays") {
  TemplateTable templates;
  JobState state("made", 0, templates);
  MadeJob job(1);
  job.say(0, {"hello out there"}, 0);
  wire::Batch batch = job.batches().front();
  batch.segments.push_back(batch.segments.front());
  batch.segments.back().source = SourceId{44};
  const auto applied = state.apply(batch);
  REQUIRE_FALSE(applied.has_value());
  CHECK(applied.error().where == "node-0");
  CHECK(applied.error().reason.find("44") != std::string::npos);
  CHECK(make_view(state, 0, false).lines == 1);
}

TEST_CASE("a later definition of a source replaces the earlier one") {
  MadeJob job(1);
  job.say(0, {"hello out there"}, 0);
  TemplateTable templates;
  JobState state("made", 0, templates);
  wire::Batch first = job.batches().front();
  first.sources.front().rank.reset();
  CHECK(state.apply(first).has_value());
  wire::Batch second;
  second.agent = first.agent;
  second.sources = {job.batches().front().sources.front()};
  CHECK(state.apply(second).has_value());
  const JobView view = make_view(state, 0, false);
  REQUIRE(view.ranks.size() == 1);
  CHECK(view.ranks[0].rank == Rank{0});
  CHECK(view.lines == 1);
}

TEST_CASE("jobs that share a table of templates keep their agents apart") {
  TemplateTable templates;
  JobState one("one", 0, templates);
  JobState two("two", 1, templates);
  MadeJob a(1);
  a.say(0, {"first of a"}, 0);
  MadeJob b(1);
  b.say(0, {"first of b"}, 0);
  b.say(0, {"first of a"}, 0);
  CHECK(one.apply(a.batches().front()).has_value());
  CHECK(two.apply(b.batches().front()).has_value());
  const JobView view_one = make_view(one, 0, false);
  const JobView view_two = make_view(two, 0, false);
  REQUIRE(view_one.events.size() == 1);
  REQUIRE(view_two.events.size() == 2);
  const auto same = test::event_of(view_two, "first of a");
  REQUIRE(same < 2);
  CHECK(view_two.events[same].id == view_one.events[0].id);
}

TEST_CASE("warnings and coverage add up") {
  MadeJob job(2);
  TemplateTable templates;
  JobState state("made", 0, templates);
  state.note({{"unreadable", "x.log", "no permission", 7}});
  for (wire::Batch batch : job.batches()) {
    batch.coverage = {{batch.agent + ".log", {0, 90}, 3, 100}};
    batch.warnings = {{"cut", batch.agent, "too long", 1}};
    CHECK(state.apply(batch).has_value());
  }
  CHECK(state.warnings().size() == 3);
  const JobView view = make_view(state, 0, false);
  CHECK(view.bytes == 180);
  CHECK(view.bytes_known == 200);
}

/// Feeds lines through a miner of `templates_max`, as an agent does; returns the texts that it
/// forgot.
std::set<std::string> feed(JobState& state, const std::vector<std::string>& lines,
                           std::size_t templates_max) {
  drain::TemplateMiner miner({.templates_max = templates_max});
  std::set<std::string> forgotten_texts;
  std::map<LocalTemplateId, std::string> texts;
  std::uint64_t line = 0;
  const auto send = [&](wire::Batch& batch) {
    batch.agent = "node-0";
    for (const LocalTemplateId id : miner.poll_changed()) {
      const drain::LogTemplate& known = miner.at(id);
      batch.templates.push_back(
          {id, known.generation, known.text, Level::info, 0, known.skeletons, known.alias_of});
      texts[id] = known.text;
    }
    batch.forgotten = miner.poll_forgotten();
    for (const LocalTemplateId id : batch.forgotten) forgotten_texts.insert(texts[id]);
    REQUIRE(state.apply(batch).has_value());
    batch = {};
  };
  wire::Batch batch;
  batch.sources.resize(1);
  batch.sources[0].path = "a.log";
  batch.sources[0].node = "node-0";
  for (const std::string& text : lines) {
    wire::Segment segment;
    const LocalTemplateId id = miner.learn(text).id;
    segment.lines = {line, line};
    segment.events = {{id, 1, line++, std::nullopt}};
    segment.parameters = {{id, 1, {{wire::ParameterKind::code, std::to_string(line)}}}};
    batch.segments.push_back(segment);
    if (batch.segments.size() == 50) send(batch);
  }
  send(batch);
  return forgotten_texts;
}

TEST_CASE("what is forgotten takes its counts along, and nothing else") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<std::string> lines;
  for (int i = 0; i < 20'000; ++i) {
    std::string word = "word";
    for (std::uint64_t rest = i; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    const std::string usual(1, static_cast<char>('a' + random() % 9));
    lines.push_back(i % 12 == 0 ? word + " came just once" : "usual line of kind " + usual + usual);
  }
  TemplateTable all_templates, few_templates;
  JobState all("all", 0, all_templates), few("few", 0, few_templates);
  feed(all, lines, 20'000);
  const auto forgotten = feed(few, lines, 64);
  CHECK(all.forgotten() == 0);
  CHECK(few.forgotten() > 1'000);
  const JobView view_all = make_view(all, 0, false);
  const JobView view_few = make_view(few, 0, false);
  CHECK(view_all.lines == lines.size());
  CHECK(view_few.lines == lines.size());
  std::map<std::string, std::uint64_t> counts;
  for (const EventView& event : view_all.events) counts[event.text] = event.count;
  CHECK(view_few.events.size() <= 64);
  for (const EventView& event : view_few.events) {
    if (!forgotten.contains(event.text)) CHECK(event.count == counts[event.text]);
  }
  const Stream& stream = few.agents().at("node-0").streams.at(0);
  CHECK(stream.events.size() <= 128);
  CHECK(stream.parameters.size() <= 128 * Stream::kTuplesMax);
  CHECK(few.tuples().size() <= stream.parameters.size());
}

TEST_CASE("a template that is counted and was never defined is a line and no event") {
  TemplateTable templates;
  JobState state("made", 0, templates);
  wire::Batch batch;
  batch.agent = "node-0";
  batch.sources.resize(1);
  batch.segments.resize(1);
  batch.segments[0].events = {{LocalTemplateId{5}, 3, 0, std::nullopt}};
  CHECK(state.apply(batch).has_value());
  const JobView view = make_view(state, 0, false);
  CHECK(view.lines == 3);
  CHECK(view.events.empty());
}

}  // namespace
}  // namespace l4::job
