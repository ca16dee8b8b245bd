#include "aggregator/job/saved_job.h"
#include "aggregator/faults/library.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"
#include "aggregator/diagnose/diagnose.h"
#include "aggregator/serve/report_json.h"
#include "common/wire/batch.h"
#include "tests/aggregator/job/made_job.h"
#include "tests/common/wire/codec/random_batch.h"

using namespace l4;
using namespace l4::job;

namespace {

/// A job with its own templates.
struct Owned {
  explicit Owned(const std::string& id) : state(id, 0, templates) {}
  TemplateTable templates;
  JobState state;
};

std::vector<std::byte> saved(const JobState& state) {
  ByteWriter out;
  save_job(state, out);
  return {out.bytes().begin(), out.bytes().end()};
}

std::unique_ptr<Owned> again(const JobState& state) {
  auto loaded = std::make_unique<Owned>(state.id());
  const auto done = load_job(saved(state), loaded->state);
  REQUIRE_MESSAGE(done, (done ? "" : done.error().text()));
  return loaded;
}

std::string report_of(const JobState& state) {
  static const faults::Library library = *faults::Library::load(L4_SOURCE_DIR "/config/faults");
  diagnose::Options options;
  options.library = &library;
  return serve::to_json(diagnose::diagnose(state, {}, options).report);
}

class Kept : public wire::Sender {
 public:
  bool send(wire::Batch batch) override {
    batches.push_back(std::move(batch));
    return true;
  }
  std::vector<wire::Batch> batches;
};

/// The batches of the agents of a folder of logs.
std::vector<wire::Batch> batches_of(const std::filesystem::path& folder) {
  static const auto packs = *segment::RulePackSet::load(L4_SOURCE_DIR "/config/frameworks");
  auto found = discover::discover({folder}, {});
  REQUIRE(found);
  std::map<std::string, std::vector<discover::LogFile>> nodes;
  for (discover::LogFile& file : found->files) nodes[file.node].push_back(std::move(file));
  Kept kept;
  std::atomic<std::uint64_t> bytes{0};
  for (auto& [name, files] : nodes) {
    agent::NodeAgent agent(name, std::move(files), packs, {});
    agent.read_all(kept, bytes, {});
  }
  return std::move(kept.batches);
}

/// Feeds one job directly and saves and loads another one `times` times on the way: their reports
/// must be equal.
void check_same_report(const std::vector<wire::Batch>& batches, std::size_t times) {
  Owned whole("job");
  auto restarted = std::make_unique<Owned>("job");
  const std::size_t every = batches.size() / (times + 1) + 1;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    CHECK(whole.state.apply(batches[i]));
    CHECK(restarted->state.apply(batches[i]));
    if (i % every == every - 1) restarted = again(restarted->state);
  }
  restarted = again(restarted->state);
  CHECK(report_of(restarted->state) == report_of(whole.state));
}

}  // namespace

TEST_CASE("saved job: a job that goes on after it was loaded gives the same report") {
  test::MadeJob job(4, 2);
  job.iterate_all(1, 40);
  for (int rank = 0; rank < job.ranks(); ++rank)
    job.say(rank, {"NCCL watchdog timeout on rank " + std::to_string(rank), Level::error}, 41'000);
  job.say(3, {"CUDA error: device-side assert triggered", Level::fatal}, 40'500);
  check_same_report(job.batches(), 3);
}

TEST_CASE("saved job: saving what was loaded gives the same size and loads again") {
  test::MadeJob job(3, 2);
  job.iterate_all(1, 20);
  const JobState& state = job.state();
  const auto loaded = again(state);
  CHECK(saved(loaded->state).size() == saved(state).size());
  CHECK(report_of(again(loaded->state)->state) == report_of(state));
}

TEST_CASE("saved job: random batches, with templates that come, merge and go") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed ", seed);
    wire::RandomBatch random(seed);
    Owned whole("job");
    auto restarted = std::make_unique<Owned>("job");
    for (int i = 0; i < 12; ++i) {
      wire::Batch batch = random.batch();
      batch.agent = i % 2 == 0 ? "a" : "b";
      for (wire::Segment& segment : batch.segments) {
        wire::SourceDefinition source;
        source.id = segment.source;
        batch.sources.push_back(source);
      }
      for (wire::TimerName& timer : batch.timers) timer.timer %= 100;
      const bool applied = whole.state.apply(batch).has_value();
      CHECK(restarted->state.apply(batch).has_value() == applied);
      if (random.engine()() % 2 == 0) restarted = again(restarted->state);
      if (random.engine()() % 2 == 0) CHECK(restarted->templates.all() == whole.templates.all());
    }
    const auto ids = whole.templates.all();
    REQUIRE(restarted->templates.all() == ids);
    for (const TemplateId id : ids) {
      CHECK(restarted->templates.text(id) == whole.templates.text(id));
      CHECK(restarted->templates.level(id) == whole.templates.level(id));
    }
    CHECK(restarted->state.coverage() == whole.state.coverage());
    CHECK(restarted->state.warnings() == whole.state.warnings());
    CHECK(restarted->state.forgotten() == whole.state.forgotten());
    CHECK(restarted->state.tuples().size() == whole.state.tuples().size());
    CHECK(saved(restarted->state).size() == saved(whole.state).size());
  }
}

TEST_CASE("saved job: cut or changed bytes are refused or load, and never more") {
  test::MadeJob job(2, 2);
  job.iterate_all(1, 5);
  const auto bytes = saved(job.state());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 16) {
    Owned loaded("job");
    CHECK_FALSE(load_job(std::span(bytes).first(size), loaded.state));
  }
  Owned other("another job");
  CHECK_FALSE(load_job(bytes, other.state));
  auto version = bytes;
  version[8] = std::byte{99};
  Owned loaded("job");
  const auto refused = load_job(version, loaded.state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason.find("version 99") != std::string::npos);
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    auto changed = bytes;
    changed[random() % changed.size()] = static_cast<std::byte>(random());
    Owned any("job");
    static_cast<void>(load_job(changed, any.state));
  }
}

TEST_CASE("saved job: a file with a key is one entry, however often it is covered") {
  Owned job("job");
  wire::Batch batch;
  batch.agent = "a";
  wire::Coverage part{"x.log", {0, 10}, 1, 10, {}};
  part.file.key = 5;
  for (std::uint64_t i = 0; i < 100; ++i) {
    part.bytes = {i * 10, i * 10 + 10};
    part.bytes_known = i * 10 + 15;
    batch.coverage = {part};
    CHECK(job.state.apply(batch));
  }
  part.bytes = {2000, 2010};  // after a gap, whose lines do not count
  batch.coverage = {part};
  const auto loaded = again(job.state);
  for (JobState* state : {&job.state, &loaded->state}) {
    CHECK(state->apply(batch));
    REQUIRE(state->coverage().size() == 1);
    CHECK(state->coverage()[0].bytes.to - state->coverage()[0].bytes.from == 1010);
    CHECK(state->coverage()[0].bytes.to == 2010);
    CHECK(state->coverage()[0].lines == 101);
  }
}

// L4_SAVED_JOBS=FOLDER:FOLDER: other folders of logs; tests/integration/saved_jobs.py sets it.
TEST_CASE("saved job: recorded jobs, loaded on the way") {
  const char* given = std::getenv("L4_SAVED_JOBS");
  std::stringstream folders(given != nullptr ? given : L4_SOURCE_DIR "/samples/crash-rank4");
  for (std::string folder; std::getline(folders, folder, ':');) {
    INFO(folder);
    if (std::filesystem::is_directory(folder)) check_same_report(batches_of(folder), 3);
  }
}
