// The detectors' view: ranks, launchers, attempts, times.
#include "aggregator/job/view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aggregator/job/attempts.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::event_of;
using test::MadeJob;

TEST_CASE("ranks, nodes and events are sorted and add up") {
  MadeJob job(12, 2);
  job.iterate_all(1, 3);
  job.say(5, {"something odd"}, 3500);
  const JobView view = job.view();
  CHECK(view.nodes.size() == 12);
  CHECK(view.training_ranks() == 24);
  CHECK(view.lines == 24 * 3 + 1);
  CHECK(view.begin == after(1000));
  CHECK(view.end == after(3500));
  for (std::size_t i = 1; i < view.nodes.size(); ++i)
    CHECK(view.nodes[i - 1].name < view.nodes[i].name);
  for (std::size_t i = 1; i < view.events.size(); ++i)
    CHECK(view.events[i - 1].id < view.events[i].id);
  for (std::uint32_t node = 0; node < view.nodes.size(); ++node)
    for (const std::uint32_t rank : view.nodes[node].ranks) CHECK(view.ranks[rank].node == node);
  const EventView& odd = view.events[event_of(view, "odd")];
  REQUIRE(odd.at.size() == 1);
  CHECK(view.ranks[view.streams[odd.at[0].stream].rank].rank == Rank{5});
  CHECK(odd.at[0].time == after(3500));
  for (const EventView& event : view.events)
    for (const Occurrence& at : event.at) {
      CHECK(at.exact == at.stats.first_time_exact);
      CHECK(at.first_line == at.stats.first_line);
    }
}

TEST_CASE("a rank knows what it completed and when") {
  MadeJob job(2);
  job.iterate_all(1, 5);
  job.iterate(1, 6, 6000);
  const JobView view = job.view();
  CHECK(view.ranks[0].completed == Iteration{5});
  CHECK(view.ranks[1].completed == Iteration{6});
  CHECK(view.ranks[1].completed_time == after(6000));
  CHECK(view.ranks[1].begin == after(1000));
  CHECK(view.ranks[1].end == after(6000));
}

TEST_CASE("times of other years are no begin and no end") {
  constexpr std::int64_t kYear = 365LL * 86'400'000;
  MadeJob job(3);
  job.iterate_all(1, 5);
  const SourceId kernel = job.add_source(2).id;
  job.say_on(2, kernel, {"a clock that is not set"}, -24 * kYear);
  job.say_on(2, kernel, {"a counter's last second"}, 80 * kYear);
  const JobView view = job.view();
  CHECK(view.begin == after(1000));
  CHECK(view.end == after(5000));
  CHECK(view.nodes[2].end == after(5000));
  // A month is no distance: a launcher began three weeks before.
  const SourceId launcher = job.add_source(1).id;
  job.say_on(1, launcher, {"the queue accepted the job"}, -21LL * 86'400'000);
  CHECK(job.view().begin == after(-21LL * 86'400'000));
}

TEST_CASE("two files of one rank are one rank") {
  MadeJob job(1);
  job.iterate(0, 1, 1000);
  wire::SourceDefinition& errors = job.add_source(0);
  errors.kind = wire::SourceKind::rank;
  errors.rank = Rank{0};
  errors.path = "node-0/stderr.log";
  const SourceId id = errors.id;
  job.say_on(0, id, {"a last word", Level::error}, 2000);
  const JobView view = job.view();
  REQUIRE(view.ranks.size() == 1);
  CHECK(view.ranks[0].streams.size() == 2);
  CHECK(view.ranks[0].completed == Iteration{1});
  CHECK(view.ranks[0].end == after(2000));
}

TEST_CASE("a launcher is no training rank") {
  MadeJob job(2);
  job.iterate_all(1, 2);
  const SourceId id = job.add_source(1).id;
  job.say_on(1, id, {"starting workers"}, 0);
  const JobView view = job.view();
  CHECK(view.training_ranks() == 2);
  REQUIRE(view.ranks.size() == 3);
  CHECK(std::ranges::count_if(
            view.ranks, [](const RankView& rank) { return rank.launcher && !rank.rank; }) == 1);
  CHECK(view.nodes[1].begin == after(0));
}

TEST_CASE("what the kernel says of a rank is that rank's, and no sign of its life") {
  MadeJob job(2);
  job.iterate_all(1, 2);
  wire::SourceDefinition& kernel = job.add_source(1);
  kernel.kind = wire::SourceKind::kernel;
  kernel.path = "/dev/kmsg";
  kernel.rank = Rank{1};
  kernel.rank_source = RankSource::env;
  const SourceId id = kernel.id;
  job.say_on(1, id, {"Out of memory: Killed process 4711 (python3)", Level::error}, 9000);
  const JobView view = job.view();
  REQUIRE(view.ranks.size() == 2);
  CHECK(view.ranks[1].streams.size() == 2);
  CHECK(view.ranks[1].end == after(2000));
  const EventView& oom = view.events[event_of(view, "Out of memory")];
  REQUIRE(oom.at.size() == 1);
  CHECK(view.streams[oom.at[0].stream].rank == 1);
  CHECK(oom.at[0].time == after(9000));
}

TEST_CASE("what the kernel says of a rank that is never heard is the node's") {
  MadeJob job(2);
  job.iterate_all(1, 2);
  wire::SourceDefinition& kernel = job.add_source(1);
  kernel.kind = wire::SourceKind::kernel;
  kernel.rank = Rank{7};
  const SourceId id = kernel.id;
  job.say_on(1, id, {"Out of memory: Killed process 4711 (python3)", Level::error}, 9000);
  const JobView view = job.view();
  CHECK(view.training_ranks() == 2);
  REQUIRE(view.ranks.size() == 3);
  const auto host = std::ranges::find(view.ranks, true, &RankView::launcher);
  REQUIRE(host != view.ranks.end());
  CHECK_FALSE(host->rank);
  CHECK(host->node == 1);
}

TEST_CASE("a local rank gets its number from its neighbour") {
  MadeJob job(2, 2);
  job.source_of(2).local_rank = 0;
  wire::SourceDefinition& unknown = job.source_of(3);
  unknown.rank.reset();
  unknown.rank_source = RankSource::none;
  unknown.local_rank = 1;
  job.iterate_all(1, 1);
  const JobView view = job.view();
  std::vector<std::string> ranks;
  for (const RankView& rank : view.ranks) {
    REQUIRE(rank.rank.has_value());
    ranks.push_back(std::to_string(rank.rank->value()) + ' ' + std::string(name(rank.rank_source)));
  }
  CHECK(ranks == std::vector<std::string>{"0 env", "1 env", "2 env", "3 derived"});
}

TEST_CASE("attempts are looked at one by one") {
  MadeJob job(2);
  CHECK(Attempts(job.state()).numbers() == std::vector<std::int32_t>{0});
  job.source_of(1).attempt = 3;
  job.iterate_all(1, 2);
  CHECK(Attempts(job.state()).numbers() == std::vector<std::int32_t>{0, 3});
  CHECK(job.view(0).training_ranks() == 1);
  CHECK(job.view(3).training_ranks() == 1);
  CHECK(job.view(3).ranks[0].rank == Rank{1});
  CHECK(job.view(1).training_ranks() == 0);
}

TEST_CASE("a file's own time counts only where it is trusted") {
  MadeJob job(1);
  job.iterate(0, 1, 1000);
  job.source_of(0).modified = after(9000);
  CHECK(job.view(0, false).ranks[0].end == after(1000));
  CHECK(job.view(0, true).ranks[0].end == after(9000));
  job.source_of(0).modified = after(500);  // older than the last line, so it is not used
  CHECK(job.view(0, true).ranks[0].end == after(1000));
}

TEST_CASE("an event without a time takes it from what stands around it") {
  MadeJob job(1);
  job.iterate(0, 1, 1000);
  job.say(0, {"between two stamps"});
  job.iterate(0, 2, 2000);
  job.say(0, {"after the last stamp"});
  const auto time_of = [](const JobView& view, const char* part) {
    return view.events[event_of(view, part)].at[0].time;
  };
  const JobView view = job.view();
  CHECK(time_of(view, "between") == after(1000));
  CHECK_FALSE(time_of(view, "after the last").has_value());
  job.source_of(0).modified = after(9000);
  CHECK(time_of(job.view(0, true), "after the last") == after(9000));
  job.source_of(0).modified = after(1996);  // the kernel's clock ticks, a stamp is finer
  CHECK(time_of(job.view(0, true), "after the last") == after(2000));
  job.source_of(0).modified = after(1500);
  CHECK_FALSE(time_of(job.view(0, true), "after the last").has_value());
}

TEST_CASE("an empty job has an empty view") {
  TemplateTable templates;
  const JobState state("made", 0, templates);
  const JobView view = make_view(state, 0, true);
  CHECK(view.nodes.empty());
  CHECK(view.events.empty());
  CHECK(view.training_ranks() == 0);
  CHECK_FALSE(view.end.has_value());
}

}  // namespace
}  // namespace l4::job
