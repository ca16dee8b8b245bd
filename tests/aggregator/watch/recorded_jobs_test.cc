// Recorded jobs, line by line as their files grew, without processes: the triggers of a watch with
// floors of 10 s and 60 s, and the diagnoses. tests/integration/watched_runs.py judges.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"
#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "aggregator/watch/job_watch.h"

namespace l4::watch {
namespace {

namespace fs = std::filesystem;
using Growth = std::map<std::string, std::vector<std::pair<std::uint64_t, TimeMs>>>;

class Kept : public wire::Sender {
 public:
  bool send(wire::Batch batch) override {
    batches.push_back(std::move(batch));
    return true;
  }
  std::vector<wire::Batch> batches;
};

/// Rows "unix time,file,size".
Growth growth_of(const fs::path& rows) {
  Growth growth;
  std::ifstream in(rows);
  std::string time, file, size;
  while (std::getline(in, time, ',') && std::getline(in, file, ',') && std::getline(in, size))
    if (time.find_first_not_of("0123456789.") == std::string::npos)
      growth[file].emplace_back(std::stoull(size),
                                TimeMs{Millis{static_cast<std::int64_t>(std::stod(time) * 1000)}});
  return growth;
}

TimeMs arrival_of(const Growth& growth, const std::string& file, std::uint64_t bytes) {
  const auto& sizes = growth.at(file);
  const auto at = std::ranges::find_if(sizes, [&](const auto& one) { return one.first >= bytes; });
  return at == sizes.end() ? sizes.back().second : at->second;
}

/// One batch a segment, in the order of their arrival; definitions go ahead of their first use.
std::vector<wire::Batch> batches_of(const fs::path& run) {
  static const auto packs = *segment::RulePackSet::load(L4_SOURCE_DIR "/config/frameworks");
  const Growth growth = growth_of(run / "arrivals.csv");
  auto found = discover::discover({run / "logs"}, {});
  REQUIRE(found);
  std::map<std::string, std::vector<discover::LogFile>> nodes;
  for (discover::LogFile& file : found->files) nodes[file.node].push_back(std::move(file));
  std::vector<wire::Batch> all;
  for (auto& [name, files] : nodes) {
    Kept kept;
    std::atomic<std::uint64_t> bytes{0};
    agent::NodeAgent agent(name, std::move(files), packs, {});
    agent.read_all(kept, bytes, {});
    wire::Batch definitions;
    std::map<SourceId, wire::SourceDefinition> sources;
    std::vector<wire::Batch> own;
    for (wire::Batch& batch : kept.batches) {
      std::ranges::move(batch.templates, std::back_inserter(definitions.templates));
      std::ranges::move(batch.timers, std::back_inserter(definitions.timers));
      for (wire::SourceDefinition& source : batch.sources) sources[source.id] = std::move(source);
      for (wire::Segment& segment : batch.segments) {
        wire::Batch one;
        one.agent = batch.agent;
        const std::string& path = sources.at(segment.source).path;
        segment.arrival_begin = arrival_of(growth, path, segment.bytes.from + 1);
        segment.arrival_end = arrival_of(growth, path, segment.bytes.to);
        one.segments.push_back(std::move(segment));
        own.push_back(std::move(one));
      }
    }
    const auto arrival = [](const wire::Batch& batch) { return *batch.segments[0].arrival_end; };
    std::ranges::stable_sort(own, {}, arrival);
    for (wire::Batch& batch : own)
      if (auto source = sources.extract(batch.segments[0].source); !source.empty()) {
        source.mapped().modified.reset();
        batch.sources.push_back(std::move(source.mapped()));
      }
    if (own.empty()) continue;
    own[0].templates = std::move(definitions.templates);
    own[0].timers = std::move(definitions.timers);
    std::ranges::move(own, std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {},
                           [](const wire::Batch& batch) { return *batch.segments[0].arrival_end; });
  return all;
}

/// Rows "name, unix ms, state, confidence, first node, causes" for every diagnosis.
void watch_run(const fs::path& run, std::ostream& out) {
  static const auto library = *faults::Library::load(L4_SOURCE_DIR "/config/faults");
  const std::vector<wire::Batch> batches = batches_of(run);
  REQUIRE_FALSE(batches.empty());
  Options floors;
  floors.suspect_floor = Millis{10'000};
  floors.confirm_floor = Millis{60'000};
  job::TemplateTable templates;
  job::JobState state(run.filename().string(), 0, templates);
  JobWatch watch(floors);
  const TimeMs end = *batches.back().segments[0].arrival_end + Millis{90'000};
  std::size_t next = 0;
  for (TimeMs now = *batches[0].segments[0].arrival_end; now <= end; now += Millis{100}) {
    for (; next < batches.size() && *batches[next].segments[0].arrival_end <= now; ++next) {
      REQUIRE(state.apply(batches[next]));
      watch.applied(state, batches[next], now);
    }
    const std::vector<Trigger> due = watch.due(now);
    if (due.empty()) continue;
    diagnose::Options options;
    options.as_of = now;
    options.library = &library;
    options.live = watch.live(now);
    const auto report = diagnose::diagnose(state, {}, options).report;
    watch.diagnosed(report, now);
    std::string causes;
    for (const Trigger& trigger : due)
      causes += (causes.empty() ? "" : ",") + std::string(name(trigger.cause));
    out << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", state.id(), now.time_since_epoch().count(),
                       l4::name(report.verdict.state), report.verdict.confidence,
                       report.nodes.empty() ? "" : report.nodes[0].node, causes);
  }
}

}  // namespace

// L4_WATCHED_RUNS=FOLDER:FOLDER, each with logs/ and arrivals.csv; rows go to L4_WATCHED_OUT.
TEST_CASE("job watch: recorded jobs as they arrived") {
  const char* given = std::getenv("L4_WATCHED_RUNS");
  const char* to = std::getenv("L4_WATCHED_OUT");
  if (given == nullptr || to == nullptr) return;
  std::ofstream out(to);
  std::stringstream folders(given);
  for (std::string folder; std::getline(folders, folder, ':');) {
    INFO(folder);
    watch_run(folder, out);
  }
}

}  // namespace l4::watch
