// What pairs carry, and which parts of the network are one job.
#include "aggregator/flows/learn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tests/aggregator/flows/made_flows.h"

namespace l4::flows {
namespace {

FlowRecord transfer(unsigned from, unsigned to, unsigned rail, TimeNs start, TimeNs lasts,
                    std::uint64_t bytes) {
  FlowRecord record;
  record.start = made::kBegin + start;
  record.end = record.start + lasts;
  record.src = made::card(from, rail);
  record.dst = made::card(to, rail);
  record.src_port = 50'000;
  record.dst_port = kRocePort;
  record.protocol = 17;
  record.bytes = bytes;
  record.packets = bytes / 4096;
  return record;
}

/// A pair of cards that send to each other all the time, in records of up to some seconds.
std::vector<JobPlan> learned_from(const std::vector<std::uint64_t>& sizes, TimeNs lasts,
                                  TimeNs inactive) {
  const Topology topology = made::topology(2, 1);
  StreamTable table(topology, 1'000);
  TimeNs at = 0;
  for (const std::uint64_t bytes : sizes) {
    table.add(transfer(0, 1, 0, at, lasts, bytes));
    table.add(transfer(1, 0, 0, at + 700 * kMillisecond, lasts, bytes));
    at += lasts + 3 * kSecond;
  }
  return learn(table, free_streams(table), {1, 0, inactive, false});
}

std::set<Label> label_of(const std::vector<JobPlan>& jobs) {
  REQUIRE(jobs.size() == 1);
  REQUIRE(!jobs[0].pairs.empty());
  return jobs[0].pairs.begin()->second;
}

TEST_CASE("sizes of merged transfers do not make a pipeline an exchange between experts") {
  constexpr std::uint64_t kOne = 50'000'000;
  const std::vector<std::uint64_t> odd{kOne,           kOne * 21 / 10, kOne * 33 / 10,
                                       kOne * 47 / 10, kOne * 9 / 5,   kOne * 37 / 10,
                                       kOne * 13 / 5,  kOne * 17 / 10};
  // Single transfers of many sizes; records that last longer than the pause that would end them;
  // short ones of one transfer, or two, or three.
  CHECK(label_of(learned_from(odd, 20 * kMillisecond, 0)) == std::set{Label::expert});
  CHECK(label_of(learned_from(odd, 2 * kSecond, kSecond)) == std::set{Label::pipeline});
  CHECK(label_of(learned_from({kOne, 2 * kOne, kOne, 3 * kOne, 2 * kOne, kOne, 2 * kOne, 3 * kOne},
                              20 * kMillisecond, 0)) == std::set{Label::pipeline});
}

/// Merged records of `length`: two cards of a server and two of another, all of which send to those
/// of the other server, or each to one of them.
std::set<Label> label_across(bool exchanges) {
  const Topology topology = made::topology(2, 2);
  StreamTable table(topology, 1'000);
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned one = 0; one < 2; ++one)
      for (unsigned two = 0; two < 2; ++two) {
        if (!exchanges && one != two) continue;
        for (const bool is_back : {false, true}) {
          FlowRecord record = transfer(is_back ? 1 : 0, is_back ? 0 : 1, one, i * 60 * kSecond,
                                       59 * kSecond, 6'000'000'000 + i * 90'000'000);
          record.src = made::card(is_back ? 1 : 0, one);
          record.dst = made::card(is_back ? 0 : 1, two);
          // All are cut at the same moments, and each has carried what the router gave it.
          record.bytes += (one * 4 + two * 2 + (is_back ? 1 : 0)) * 50'000'000;
          table.add(record);
        }
      }
  return label_of(learn(table, free_streams(table), {1, 60 * kSecond, kSecond, false}));
}

TEST_CASE("merged exchanges of two servers show in who exchanges with two cards of one") {
  CHECK(label_across(true) == std::set{Label::expert});
  CHECK(label_across(false) == std::set{Label::pipeline});
}

/// Two rails of two servers: the groups of each, with a beat at each of the times.
std::vector<JobPlan> joined(const std::vector<TimeNs>& slow, const std::vector<TimeNs>& quick) {
  const Topology topology = made::topology(2, 2);
  StreamTable table(topology, 1'000);
  for (unsigned rail = 0; rail < 2; ++rail) {
    table.add(transfer(0, 1, rail, 0, kMillisecond, 100'000'000));
    table.add(transfer(1, 0, rail, 0, kMillisecond, 100'000'000));
  }
  Labelled labelled;
  std::vector<Track> tracks;
  for (std::uint32_t i = 0; i < table.streams().size(); ++i) {
    const Stream& stream = table.streams()[i];
    tracks.push_back({i, stream.src_card, stream.dst_card, {}, {}});
    if (i % 2 == 0) labelled.groups.emplace_back();
    Group& group = labelled.groups.back();
    group.edges.push_back({i, stream.src_card, stream.dst_card, 0});
    group.cards = {std::min(stream.src_card, stream.dst_card),
                   std::max(stream.src_card, stream.dst_card)};
  }
  REQUIRE(labelled.groups.size() == 2);
  const auto set = [](Group& group, const std::vector<TimeNs>& ends) {
    StepRule rule;
    rule.events = 1;
    rule.period = ends[1] - ends[0];
    rule.gaps = {rule.period / 2};
    group.rule = rule;
    for (const TimeNs end : ends) group.beats.push_back({end - rule.period / 2, end, 100'000'000});
  };
  set(labelled.groups[0], slow);
  set(labelled.groups[1], quick);
  return join_jobs(table, tracks, std::move(labelled), {});
}

TEST_CASE("a clock that counts micro-batches is of the job whose steps they make") {
  std::vector<TimeNs> steps, batches, others;
  TimeNs at = made::kBegin;
  for (int step = 0; step < 30; ++step) {
    for (int batch = 0; batch < 16; ++batch) batches.push_back(at += 200 * kMillisecond);
    steps.push_back(at + 150 * kMillisecond);
    at += (290 + step % 7) * kMillisecond;  // the optimizer
  }
  for (TimeNs other = made::kBegin; other < at; other += 203 * kMillisecond)
    others.push_back(other);
  const auto one = joined(steps, batches);
  REQUIRE(one.size() == 1);
  const auto clocks =
      std::ranges::count_if(one[0].groups, [](const Group& g) { return g.rule.has_value(); });
  CHECK(clocks == 1);
  CHECK(joined(steps, others).size() == 2);
}

}  // namespace
}  // namespace l4::flows
