#include "tests/agent/segment/pack_reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <stdexcept>
#include <tuple>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"
#include "common/wire/codec/batch_codec.h"

namespace l4::segment::test {
namespace {

/// Keeps the batches that an agent ships.
class Collector final : public wire::Sender {
 public:
  bool send(wire::Batch batch) override {
    // Encoded and decoded, as over a network.
    auto decoded = wire::decode(wire::encode(batch));
    if (!decoded) throw std::runtime_error(decoded.error().text());
    batches.push_back(std::move(*decoded));
    return true;
  }
  std::vector<wire::Batch> batches;
};

struct Sums {
  double ms = 0;
  std::uint32_t count = 0;
};

/// Sums up the batches, by source if that matters.
struct Gathered {
  std::map<SourceId, wire::SourceDefinition> sources;
  std::map<std::uint16_t, std::string> timer_names;
  std::map<SourceId, std::vector<std::int64_t>> completed;
  std::set<std::pair<std::uint64_t, Stage>> stages;  // by first line
  std::map<std::string, Sums> timers;
  std::map<LocalTemplateId, std::uint8_t> marks;
};

void gather(const wire::Batch& batch, Gathered& all, Reading& reading) {
  for (const wire::SourceDefinition& source : batch.sources) all.sources[source.id] = source;
  for (const wire::TimerName& timer : batch.timers)
    if (!timer.learned) all.timer_names[timer.timer] = timer.name;
  for (const wire::TemplateDefinition& definition : batch.templates)
    all.marks[definition.id] = definition.marks;
  for (const wire::Segment& segment : batch.segments) {
    all.stages.emplace(segment.lines.first, segment.stage);
    for (const wire::TimerTotal& timer : segment.timers) {
      const auto name = all.timer_names.find(timer.timer);
      if (name == all.timer_names.end()) continue;
      Sums& sums = all.timers[name->second];
      sums.ms += timer.sum_ms;
      sums.count += timer.count;
    }
    if (!segment.iteration || segment.boundary == wire::Boundary::none) continue;
    if (segment.counted)
      ++reading.counted;
    else
      all.completed[segment.source].push_back(segment.iteration->value());
  }
}

void summarise(const Gathered& all, Reading& reading) {
  for (const auto& [id, numbers] : all.completed) {
    const std::size_t run = all.sources.at(id).run;
    if (reading.iterations.size() <= run) reading.iterations.resize(run + 1);
    if (numbers.size() > reading.iterations[run].size()) reading.iterations[run] = numbers;
  }
  for (const auto& [id, source] : all.sources)
    if (reading.iterations.size() <= source.run) reading.iterations.resize(source.run + 1);
  for (const auto& [line, stage] : all.stages) {
    const std::string name(l4::name(stage));
    if (stage != Stage::unknown && (reading.stages.empty() || reading.stages.back() != name))
      reading.stages.push_back(name);
  }
  for (const auto& [id, marks] : all.marks) {
    if ((marks & wire::kMarkFinished) != 0) ++reading.finished;
    if ((marks & wire::kMarkTeardown) != 0) ++reading.teardown;
    if ((marks & wire::kMarkAftermath) != 0) ++reading.aftermath;
  }
  for (const auto& [name, sums] : all.timers) reading.timers[name] = sums.ms / sums.count;
}

/// A folder that is removed at the end.
struct TemporaryFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("l4_packs_{}", ::getpid());
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

Reading read_file(const std::filesystem::path& file, const RulePackSet& packs) {
  auto found = discover::discover({file}, {});
  if (!found) throw std::runtime_error(found.error().text());
  agent::NodeAgent agent("node", std::move(found->files), packs, {});
  Collector collector;
  std::atomic<std::uint64_t> bytes{0};
  agent.read_all(collector, bytes, {});
  Reading reading;
  Gathered all;
  for (const wire::Batch& batch : collector.batches) gather(batch, all, reading);
  summarise(all, reading);
  reading.frameworks = agent.frameworks();
  for (const agent::FileFacts& facts : agent.facts()) reading.marker = facts.iteration_marker;
  return reading;
}

std::string Reading::text() const {
  std::string out = fmt::format("marker: {}\nframeworks: {}\n", marker.empty() ? "-" : marker,
                                fmt::join(frameworks, " "));
  for (std::size_t run = 0; run < iterations.size(); ++run)
    out += fmt::format(
        "run {}: {}\n", run,
        iterations[run].empty() ? "-" : fmt::format("{}", fmt::join(iterations[run], " ")));
  if (counted > 0) out += fmt::format("counted: {}\n", counted);
  out += fmt::format("stages: {}\n", fmt::join(stages, " "));
  for (const auto& [name, ms] : timers) out += fmt::format("timer: {} {:.2f} ms\n", name, ms);
  out += fmt::format("finished: {}\nteardown: {}\n", finished, teardown);
  if (aftermath > 0) out += fmt::format("aftermath: {}\n", aftermath);
  return out;
}

const RulePackSet& packs() {
  static const RulePackSet set = [] {
    auto loaded = RulePackSet::load(L4_SOURCE_DIR "/config/frameworks");
    if (!loaded) throw std::runtime_error(loaded.error().text());
    return std::move(*loaded);
  }();
  return set;
}

RulePackSet packs_without(const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(L4_SOURCE_DIR "/config/frameworks"))
    if (std::ranges::find(names, entry.path().stem().string()) == names.end())
      std::filesystem::copy_file(entry.path(), folder.path / entry.path().filename());
  auto packs = RulePackSet::load(folder.path);
  if (!packs) throw std::runtime_error(packs.error().text());
  return std::move(*packs);
}

}  // namespace l4::segment::test
