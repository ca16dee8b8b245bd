// Whole jobs, from records to findings.
#include "aggregator/flows/analyser.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/aggregator/flows/made_flows.h"

namespace l4::flows {
namespace {

FlowReport analysed(const std::vector<FlowRecord>& records, const Topology& topology,
                    std::size_t rows_max = 1'000'000) {
  Analyser analyser(topology, {{}, rows_max});
  for (const FlowRecord& record : records) analyser.add(record);
  return analyser.finish();
}

/// Step ends of the first card of a job.
const std::vector<TimeNs>& ends_of(const JobFlows& job, const Address& card) {
  return job.groups[job.clock_of.at(card)].ends;
}

}  // namespace

TEST_CASE("rings over the same servers are one job with its steps") {
  const Topology topology = made::topology(4, 2);
  std::vector<TimeNs> ends;
  const auto records = made::records({}, &ends);
  const FlowReport report = analysed(records, topology);
  REQUIRE(report.jobs.size() == 1);
  const JobFlows& job = report.jobs[0];
  CHECK(job.cards.size() == 8);
  CHECK(job.servers == std::vector<std::string>{"node-0", "node-1", "node-2", "node-3"});
  for (const PairFlows& pair : job.pairs) CHECK(pair.labels == std::set<Label>{Label::data});
  CHECK(job.findings.empty());
  const auto& found = ends_of(job, made::card(0, 0));
  REQUIRE(found.size() == ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) CHECK(std::abs(found[i] - ends[i]) < kMillisecond);
}

TEST_CASE("jobs that share no clock stay two, even on the same servers") {
  const Topology topology = made::topology(4, 4);
  made::Ring one, two;
  two.period = 2'700 * kMillisecond;
  auto second = made::records(two);
  for (FlowRecord& record : second) {  // the other two cards of each server
    record.src.low += 2u << 16;
    record.dst.low += 2u << 16;
  }
  const FlowReport report = analysed(made::merged(made::records(one), second), topology);
  CHECK(report.jobs.size() == 2);
  for (const JobFlows& job : report.jobs) CHECK(job.cards.size() == 8);
}

TEST_CASE("a job that is followed record by record says the same as one that was read at once") {
  const Topology topology = made::topology(4, 2);
  const auto records = made::records({});
  const FlowReport whole = analysed(records, topology);
  const FlowReport live = analysed(records, topology, records.size() / 3);
  REQUIRE(live.jobs.size() == 1);
  CHECK(ends_of(live.jobs[0], made::card(1, 1)) == ends_of(whole.jobs[0], made::card(1, 1)));
}

TEST_CASE("exporters whose files come one after another make one job") {
  const Topology topology = made::topology(4, 2);
  auto records = made::records({});
  const FlowReport whole = analysed(records, topology);
  std::ranges::stable_partition(records,
                                [](const FlowRecord& record) { return record.src.low >> 16 & 1; });
  const FlowReport apart = analysed(records, topology);
  REQUIRE(apart.jobs.size() == 1);
  CHECK(apart.jobs[0].steps == whole.jobs.at(0).steps);
}

TEST_CASE("a server that comes late in each step is slow") {
  made::Ring ring;
  ring.late = [](unsigned step, unsigned server) { return step >= 25 && server == 2 ? 0.4 : 0.0; };
  const Topology topology = made::topology(4, 2);
  const FlowReport report = analysed(made::records(ring), topology);
  REQUIRE(report.jobs.size() == 1);
  REQUIRE(report.jobs[0].findings.size() == 1);
  const FlowFinding& finding = report.jobs[0].findings[0];
  CHECK(finding.cause == Cause::slow_gpu);
  CHECK(finding.place == std::vector<std::string>{"node-2"});
  CHECK(finding.steps == 15);
  CHECK(finding.factor == doctest::Approx(1.2).epsilon(0.05));
}

TEST_CASE("another late server in each step is imbalance, and one late step a pause") {
  const Topology topology = made::topology(4, 2);
  made::Ring uneven;
  uneven.late = [](unsigned step, unsigned server) {
    return step >= 25 && server == step * 7 % 4 ? 0.4 : 0.0;
  };
  const FlowReport report = analysed(made::records(uneven), topology);
  REQUIRE(report.jobs.at(0).findings.size() == 1);
  CHECK(report.jobs[0].findings[0].cause == Cause::imbalance);
  made::Ring pause;
  pause.late = [](unsigned step, unsigned server) { return step == 25 && server == 1 ? 1.5 : 0.0; };
  const FlowReport paused = analysed(made::records(pause), topology);
  REQUIRE(paused.jobs.at(0).findings.size() == 1);
  CHECK(paused.jobs[0].findings[0].cause == Cause::pause);
  CHECK(paused.jobs[0].findings[0].place == std::vector<std::string>{"node-1"});
}

TEST_CASE("slow transfers of one rail point at its cards, of no other") {
  made::Ring ring;
  ring.slower = [](unsigned step, unsigned server, unsigned rail) {
    return step >= 25 && server == 1 && rail == 1 ? 12.0 : 1.0;
  };
  const Topology topology = made::topology(4, 8);
  ring.rails = 8;
  const FlowReport report = analysed(made::records(ring), topology);
  REQUIRE(report.jobs.at(0).findings.size() >= 1);
  const FlowFinding& finding = report.jobs[0].findings[0];
  CHECK(finding.cause == Cause::degraded_link);
  CHECK(finding.ambiguous);  // a ring does not tell which of its edges is slow
  CHECK(std::ranges::find(finding.place, to_text(made::card(1, 1))) != finding.place.end());
  CHECK(std::ranges::find(finding.place, to_text(made::card(1, 0))) == finding.place.end());
}

TEST_CASE("slow transfers are told by the end of the second step, also where steps are not slow") {
  made::Ring ring;
  ring.slower = [](unsigned step, unsigned server, unsigned rail) {
    return step >= 25 && server == 1 && rail == 1 ? 2.0 : 1.0;
  };
  const Topology topology = made::topology(4, 8);
  ring.rails = 8;
  std::vector<TimeNs> ends;
  const FlowReport report = analysed(made::records(ring, &ends), topology);
  REQUIRE(report.jobs.at(0).findings.size() == 1);
  CHECK(report.jobs[0].findings[0].cause == Cause::degraded_link);
  CHECK(report.jobs[0].findings[0].at <= ends[26] + 10 * kMillisecond);
  CHECK(report.jobs[0].findings[0].since >= ends[23]);
}

TEST_CASE("time in which the job writes a checkpoint is not slow") {
  made::Ring ring;
  ring.late = [](unsigned step, unsigned) { return step == 25 ? 3.0 : 0.0; };
  const Topology topology = made::topology(4, 2);
  std::vector<TimeNs> ends;
  auto records = made::records(ring, &ends);
  const auto findings = [&] { return analysed(records, topology).jobs.at(0).findings.size(); };
  CHECK(findings() == 1);
  FlowRecord write;
  write.start = ends[24] + 10 * kMillisecond;
  write.end = write.start + 3 * kSecond;
  write.src = Address::of_ipv4((172u << 24) | 1);
  write.dst = Address::of_ipv4((172u << 24) | (1u << 16) | 1);
  write.dst_port = 2049;
  write.protocol = 6;
  write.bytes = 3'000'000'000;
  records.push_back(write);
  std::ranges::stable_sort(records, {}, &FlowRecord::end);
  CHECK(findings() == 0);
}

TEST_CASE("a late step is not judged where the record of a checkpoint may have been lost") {
  made::Ring ring;
  ring.late = [](unsigned step, unsigned) { return step == 25 ? 3.0 : 0.0; };
  const Topology topology = made::topology(4, 2);
  std::vector<TimeNs> ends;
  const auto steps = made::records(ring, &ends);
  const Address storage = Address::of_ipv4((172u << 24) | (1u << 16) | 1);
  const Address front_end = Address::of_ipv4((172u << 24) | 2);
  const Address stranger = Address::of_ipv4((192u << 24) | 2);
  // What an exporter at the storage or at front ends tells before and after, with or without a
  // number between.
  const auto findings = [&](const Address& to, std::uint64_t later) {
    auto records = steps;
    for (const auto& [step, sequence] : {std::pair{5, std::uint64_t{0}}, {35, later}}) {
      FlowRecord read;
      read.start = ends[static_cast<std::size_t>(step)];
      read.end = read.start + kMillisecond;
      read.src = to == stranger ? to : Address::of_ipv4((172u << 24) | 1);
      read.dst = to;
      read.bytes = 5'000;
      read.exporter = 1;
      read.sequence = sequence;
      read.has_sequence = true;
      records.push_back(read);
    }
    std::ranges::stable_sort(records, {}, &FlowRecord::end);
    return analysed(records, topology).jobs.at(0).findings.size();
  };
  for (const Address& to : {storage, front_end}) {
    CHECK(findings(to, 1) == 1);
    CHECK(findings(to, 2) == 0);
  }
  CHECK(findings(stranger, 2) == 1);  // writes to storage do not pass this exporter
}

TEST_CASE("who is missing in the torn collective hangs") {
  made::Ring ring;
  ring.sends = [](unsigned step, unsigned server) {
    return step < 30 || (step == 30 && server != 2 && server != 1);  // edges out of and into node-2
  };
  const Topology topology = made::topology(8, 2);
  made::Ring other;
  other.first_server = 4;
  other.steps = 60;
  const FlowReport report =
      analysed(made::merged(made::records(ring), made::records(other)), topology);
  REQUIRE(report.jobs.size() == 2);
  const JobFlows& job = report.jobs[0].servers[0] == "node-0" ? report.jobs[0] : report.jobs[1];
  REQUIRE(job.findings.size() == 1);
  CHECK(job.findings[0].cause == Cause::hang);
  CHECK(job.findings[0].place.at(0) == "node-2");
}

TEST_CASE("the end of a capture is no failure") {
  const Topology topology = made::topology(8, 2);
  made::Ring other;
  other.first_server = 4;
  other.period = 3 * kSecond;
  other.steps = 27;  // both end together, after whole steps
  const FlowReport report =
      analysed(made::merged(made::records({}), made::records(other)), topology);
  for (const JobFlows& job : report.jobs) CHECK(job.findings.empty());
}

TEST_CASE("steps of which records were lost are not judged") {
  const Topology topology = made::topology(4, 2);
  auto records = made::records({});
  made::number(records);
  // The last two collectives of step 25.
  std::erase_if(records, [&](const FlowRecord& record) {
    return record.sequence >= 25 * 32 + 16 && record.sequence < 26 * 32;
  });
  const FlowReport report = analysed(records, topology);
  CHECK(report.lost == 16);
  REQUIRE(report.jobs.size() == 1);
  CHECK(report.jobs[0].findings.empty());
  CHECK(report.jobs[0].lossy_steps >= 1);
}

TEST_CASE("probes between any two cards make no jobs") {
  const Topology topology = made::topology(4, 2);
  std::vector<FlowRecord> probes;
  for (unsigned i = 0; i < 1'000; ++i) {
    FlowRecord record;
    record.start = made::kBegin + i * kMillisecond;
    record.end = record.start + kMillisecond / 100;
    record.src = made::card(i % 4, i % 2);
    record.dst = made::card((i + 1 + i % 3) % 4, i % 2);
    record.src_port = static_cast<std::uint16_t>(40'000 + i);
    record.dst_port = kRocePort;
    record.protocol = 17;
    record.bytes = 4'096;
    record.packets = 1;
    probes.push_back(record);
  }
  CHECK(analysed(probes, topology).jobs.empty());
  const FlowReport both = analysed(made::merged(made::records({}), probes), topology);
  CHECK(both.jobs.size() == 1);
}

TEST_CASE("a sampling rate shows in the packet counts") {
  const Topology topology = made::topology(4, 2);
  const auto sampling = [&](std::uint64_t rate, bool varies) {
    Analyser analyser(topology, {{}, 10'000});
    auto records = made::records({});
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].packets = rate * (varies ? 1 + i * 7 % 31 : 24);
      analyser.add(records[i]);
    }
    return analyser.sampling();
  };
  CHECK(sampling(1024, true) == 1024);
  CHECK(sampling(1, true) == 1);
  CHECK(sampling(1000, false) == 1);  // equal transfers, each seen whole
}

TEST_CASE("forged sources find no room") {
  const Topology topology;  // not known: any sender counts
  Analyser analyser(topology, {{}, 10'000});
  FlowRecord record;
  record.dst_port = kRocePort;
  record.protocol = 17;
  record.bytes = 1'000'000;
  record.packets = 250;
  for (std::uint32_t i = 0; i < 400'000; ++i) {
    record.start = made::kBegin + i;
    record.end = record.start + 1;
    record.src = Address::of_ipv4(i);
    record.dst = Address::of_ipv4(~i);
    analyser.add(record);
  }
  const FlowReport report = analyser.finish();
  CHECK(report.streams <= kStreamsMax);
  CHECK(report.cards <= kCardsMax);
  CHECK(report.unplaced > 0);
  CHECK(report.jobs.empty());
}

TEST_CASE("a job that is learned too early is learned anew, under its name") {
  const Topology topology = made::topology(4, 2);
  std::vector<TimeNs> ends;
  const auto records = made::records({}, &ends);
  Analyser analyser(topology, {{}, 1'000'000});
  for (std::size_t i = 0; i < records.size(); ++i) {
    analyser.add(records[i]);
    if (i % 100 == 99) analyser.learn_further();
  }
  analyser.learn_further();
  REQUIRE(analyser.counts().jobs == 1);
  const JobFlows job = analyser.jobs().front()->flows();
  CHECK(job.name == "flows-1");
  CHECK(std::abs(static_cast<double>(job.period) / static_cast<double>(ends[9] - ends[8]) - 1) <
        0.05);
}

TEST_CASE("a job that goes silent says so once, keeps bounded steps, and is dropped at last") {
  const Topology topology = made::topology(4, 2);
  AnalyserSettings settings{{}, 1'000'000};
  settings.kept = {8, 4};
  Analyser analyser(topology, settings);
  made::Ring ring;
  ring.sends = [](unsigned step, unsigned server) { return step < 39 || server != 1; };
  for (const FlowRecord& record : made::records(ring)) analyser.add(record);
  analyser.learn_further();
  const TimeNs end = analyser.now();
  analyser.watch(end + kSecond, 600 * kSecond);
  CHECK(analyser.counts().silent_jobs == 0);
  for (TimeNs later = 60; later < 64; ++later) analyser.watch(end + later * kSecond, 600 * kSecond);
  REQUIRE(analyser.counts().silent_jobs == 1);
  const JobFlows job = analyser.jobs().front()->flows();
  CHECK(job.silent);
  CHECK(job.findings.size() == 1);
  CHECK(job.steps.size() <= 16);
  CHECK(job.shapes.size() == 4);
  analyser.watch(end + 1'000 * kSecond, 600 * kSecond);
  CHECK(analyser.counts().jobs == 0);
}

namespace {

/// One job of `groups` rings, one for each rail, that end their steps one after another, as the
/// stages of a pipeline do.
std::vector<FlowRecord> staggered(unsigned groups) {
  std::vector<FlowRecord> all;
  for (unsigned rail = 0; rail < groups; ++rail) {
    made::Ring ring;
    ring.rails = 1;
    ring.begin = made::kBegin + rail * 150 * kMillisecond;
    auto own = made::records(ring);
    for (FlowRecord& record : own) {
      record.src.low += rail << 16;
      record.dst.low += rail << 16;
    }
    all = made::merged(std::move(all), own);
  }
  return all;
}

/// The step of a ring's record.
std::int64_t step_of(const FlowRecord& record, unsigned groups) {
  const std::int64_t all = 40;
  const auto records = staggered(groups);
  const TimeNs span = (records.back().end - records.front().start) / all;
  return (record.end - records.front().start) / span;
}

}  // namespace

TEST_CASE("a step that one of three groups does not end is as long as the others say") {
  const Topology topology = made::topology(4, 3);
  auto records = staggered(3);
  const auto whole = records;
  std::erase_if(records, [&](const FlowRecord& record) {
    return (record.src.low >> 16 & 0xff) == 2 && step_of(record, 3) == 25;
  });
  REQUIRE(records.size() < whole.size());
  const FlowReport report = analysed(records, topology);
  REQUIRE(report.jobs.size() == 1);
  CHECK(report.jobs[0].findings.empty());
  CHECK(report.jobs[0].steps.size() + 1 >= analysed(whole, topology).jobs.at(0).steps.size());
}

TEST_CASE("groups that all lost the same step are no witnesses of a long one") {
  const Topology topology = made::topology(4, 3);
  auto records = staggered(3);
  made::number(records);
  std::erase_if(records, [&](const FlowRecord& record) {
    return (record.src.low >> 16 & 0xff) != 2 && step_of(record, 3) == 25;
  });
  const FlowReport report = analysed(records, topology);
  CHECK(report.lost > 0);
  REQUIRE(report.jobs.size() == 1);
  CHECK(report.jobs[0].findings.empty());
}

TEST_CASE("jobs that are learned in turns while records come are those that are learned at once") {
  const Topology topology = made::topology(8, 2);
  made::Ring other;
  other.first_server = 4;
  other.period = 2'700 * kMillisecond;
  const auto records = made::merged(made::records({}), made::records(other));
  const FlowReport whole = analysed(records, topology);
  REQUIRE(whole.jobs.size() == 2);
  AnalyserSettings settings{{}, 1'000'000, {}};
  settings.learns_when_asked = true;
  Analyser analyser(topology, settings);
  std::size_t at = 0;
  const auto add_until = [&](std::size_t share) {
    for (; at < records.size() * share / 10; ++at) analyser.add(records[at]);
  };
  add_until(6);
  CHECK_FALSE(analyser.learn_some(1));  // nothing was begun
  CHECK(analyser.counts().jobs == 0);
  analyser.begin_learning();
  CHECK(analyser.learn_some(1));  // a part is left
  CHECK(analyser.counts().jobs == 1);
  add_until(8);
  CHECK_FALSE(analyser.learn_some(1));
  CHECK(analyser.counts().jobs == 2);
  add_until(10);
  const FlowReport report = analyser.finish();
  REQUIRE(report.jobs.size() == 2);
  for (const JobFlows& job : report.jobs) {
    const Address& card = *job.cards.begin();
    const bool is_first = std::ranges::find(whole.jobs[0].cards, card) != whole.jobs[0].cards.end();
    CHECK(ends_of(job, card) == ends_of(whole.jobs[is_first ? 0 : 1], card));
  }
}

TEST_CASE("what is learned anew in turns keeps its name and is never missing meanwhile") {
  const Topology topology = made::topology(4, 2);
  const auto records = made::records({});
  AnalyserSettings settings{{}, 400, {}};  // fewer rows than there are
  settings.learns_when_asked = true;
  Analyser analyser(topology, settings);
  for (const FlowRecord& record : records) analyser.add(record);
  CHECK(analyser.is_full());
  CHECK(analyser.counts().jobs == 0);  // it was not asked to learn
  for (int i = 0; i < 3; ++i) {
    analyser.begin_learning();
    CHECK(analyser.counts().jobs == (i == 0 ? 0 : 1));
    while (analyser.learn_some(1'000)) {
    }
    REQUIRE(analyser.counts().jobs == 1);
  }
  CHECK_FALSE(analyser.is_full());
  CHECK(analyser.jobs().front()->name() == "flows-1");
}

}  // namespace l4::flows
