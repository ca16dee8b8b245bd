#include "aggregator/flows/rate_watch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "aggregator/flows/analyser.h"
#include "tests/aggregator/flows/made_flows.h"

namespace l4::flows {
namespace {

/// Streams 0 to 3 in turn, a row each second; a record of a stream is fast once in four.
struct MadeRates {
  void run(unsigned rows, bool is_limited) {
    for (unsigned i = 0; i < rows; ++i, ++round)
      for (std::uint32_t stream = 0; stream < 4; ++stream) {
        const bool is_slow = is_limited && stream < 2;
        const TimeNs length = is_slow ? 2 * kSecond : round % 4 == 0 ? kSecond / 50 : 2 * kSecond;
        const TimeNs begin = 3 * kSecond * round;
        watch.add({begin, begin + length, is_slow ? 1'500'000U : 12'000'000U, stream, 200});
      }
  }
  RateWatch watch;
  TimeNs round = 0;
};

using Ways = std::vector<std::pair<unsigned, unsigned>>;
const Ways kOneWay{{0, 1}, {1, 2}, {2, 3}, {3, 0}};

/// What cards send each other, by an exporter that merges transfers and pauses at random. From
/// `struck` on what touches node-2 is slow.
JobFlows merged_job(const Ways& ways, TimeNs struck) {
  std::mt19937 random(5);
  std::vector<FlowRecord> all;
  for (const auto& [from, to] : ways) {
    TimeNs now = made::kBegin;
    for (unsigned i = 0; i < 100; ++i) {
      const bool is_slow = now > struck && (from == 2 || to == 2);
      const TimeNs merged = static_cast<TimeNs>(1'500 + random() % 1'500) * kMillisecond;
      FlowRecord record;
      record.start = now;
      record.end = now + (is_slow || random() % 3 != 0 ? merged : 40 * kMillisecond);
      record.src = made::card(from, 0);
      record.dst = made::card(to, 0);
      record.src_port = static_cast<std::uint16_t>(50'000 + from);
      record.dst_port = 40'000;
      record.protocol = 6;
      record.bytes = is_slow ? 1'000'000 : 12'000'000 + random() % 1'000'000;
      record.packets = record.bytes / 1'400;
      all.push_back(record);
      now = record.end + static_cast<TimeNs>(random() % 4'000) * kMillisecond;
    }
  }
  std::ranges::sort(all, {}, &FlowRecord::end);
  AnalyserSettings settings;
  settings.exporter.active = kSecond;
  settings.exporter.inactive = 2 * kSecond;
  const Topology topology = made::topology(4, 1);
  Analyser analyser(topology, settings);
  for (const FlowRecord& record : all) analyser.add(record);
  const FlowReport report = analyser.finish();
  REQUIRE(report.jobs.size() == 1);
  return report.jobs.front();
}

void check_labels(const JobFlows& job, std::size_t pairs, const std::set<Label>& labels) {
  CHECK(job.pairs.size() == pairs);
  for (const PairFlows& pair : job.pairs) CHECK(pair.labels == labels);
}

}  // namespace

TEST_CASE("merged records: an exchange is all to all, a pipeline both ways, one way is not known") {
  constexpr TimeNs kNever = made::kBegin + 10'000 * kSecond;
  Ways exchange, chain;
  for (unsigned from = 0; from < 4; ++from)
    for (unsigned to = 0; to < 4; ++to) {
      if (from != to) exchange.emplace_back(from, to);
      if (from + 1 == to || to + 1 == from) chain.emplace_back(from, to);
    }
  check_labels(merged_job(exchange, kNever), 12, {Label::expert});
  check_labels(merged_job(chain, kNever), 6, {Label::pipeline});
  check_labels(merged_job(kOneWay, kNever), 4, {});
}

TEST_CASE("rates: a slow link is found without steps") {
  const TimeNs struck = made::kBegin + 150 * kSecond;
  const JobFlows job = merged_job(kOneWay, struck);
  CHECK(job.period == 0);
  const auto found = std::ranges::find(job.findings, Cause::degraded_link, &FlowFinding::cause);
  REQUIRE(found != job.findings.end());
  CHECK(found->place == std::vector<std::string>{to_text(made::card(2, 0))});
  CHECK(found->since >= struck);
  CHECK(found->steps == 0);
  CHECK(found->open);
  const JobFlows healthy = merged_job(kOneWay, made::kBegin + 10'000 * kSecond);
  CHECK(std::ranges::find(healthy.findings, Cause::degraded_link, &FlowFinding::cause) ==
        healthy.findings.end());
}

TEST_CASE("rates: streams without a fast record are slow, where there were fast ones before") {
  MadeRates rates;
  rates.run(40, false);
  CHECK(rates.watch.find().slow.empty());
  const TimeNs struck = 3 * kSecond * rates.round;
  rates.run(RateWatch::kBlock, true);
  CHECK(rates.watch.find().slow.empty());  // one block may be chance
  rates.run(RateWatch::kBlock, true);
  const RateWatch::Found found = rates.watch.find();
  CHECK(found.slow == std::vector<std::uint32_t>{0, 1});
  CHECK(found.judged == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(found.since >= struck);
  CHECK(found.factor == doctest::Approx(800));
  rates.run(RateWatch::kBlock, false);
  CHECK(rates.watch.find().slow.empty());
}

TEST_CASE("rates: what was always slow is usual, and a few records tell nothing") {
  MadeRates rates;
  rates.run(60, true);
  CHECK(rates.watch.find().slow.empty());
  MadeRates few;
  few.run(RateWatch::kBlock, false);
  few.run(3 * RateWatch::kBlock, true);
  CHECK(few.watch.find().slow.empty());
}

}  // namespace l4::flows
