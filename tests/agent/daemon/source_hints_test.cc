#include "agent/daemon/source_hints.h"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "common/wire/greeting.h"
#include "tests/captured_stderr.h"
#include "tests/temp_folder.h"

namespace l4::daemon {
namespace {

namespace fs = std::filesystem;

/// Hints of the sources at some time; waits for the survey's thread.
class Asked {
 public:
  explicit Asked(OwnLog& log) : hints_(log, Millis{0}) {}

  std::vector<std::string> at(Millis now, const std::vector<std::string>& sources,
                              const std::vector<std::string>& excludes = {}) {
    hints_.poll(sources, excludes, now);
    for (int i = 0; i < 10'000 && hints_.is_surveying(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      hints_.poll(sources, excludes, now);
    }
    return hints_.hints();
  }
  SourceHints& hints() { return hints_; }

 private:
  SourceHints hints_;
};

TEST_CASE("source hints: a pattern without a log names what stands nearest, after a minute") {
  const test::TempFolder folder;
  fs::create_directories(folder.path() / "job-7");
  folder.file("job-7/worker-0.out", "text\n");
  OwnLog log(false);
  Asked asked(log);
  const std::vector<std::string> sources{(folder.path() / "job-7").string(),
                                         (folder.path() / "jobs" / "*").string()};
  CHECK(asked.at(Millis{59'000}, sources).empty());
  const auto hints = asked.at(Millis{60'000}, sources);
  REQUIRE(hints.size() == 1);
  CHECK(hints[0].contains("jobs/*\" matches no log"));
  CHECK(hints[0].contains("job-7"));

  fs::create_directories(folder.path() / "jobs");
  folder.file("jobs/rank0.log", "text\n");
  CHECK(asked.at(Millis{120'001}, sources).empty());
  CHECK(asked.hints().due_at() == Millis::max());  // all is well: nothing is surveyed again
  asked.hints().restart(Millis{200'000});
  CHECK(asked.hints().due_at() == Millis{260'000});
}

TEST_CASE("source hints: a text that grows and is taken for no log") {
  const test::TempFolder folder;
  folder.file("rank0.log", "text\n");
  const fs::path data = folder.file("metrics.jsonl", "{\"a\": 1}\n");
  folder.file("quiet.jsonl", "{\"a\": 1}\n");
  folder.file("weights.pt", std::string(100, '\0'));
  OwnLog log(false);
  Asked asked(log);
  const std::vector<std::string> sources{folder.path().string()};
  CHECK(asked.at(Millis{60'000}, sources).empty());
  std::ofstream(data, std::ios::app) << "{\"a\": 2}\n";
  std::ofstream(folder.path() / "weights.pt", std::ios::app) << std::string(100, '\0');
  const auto hints = asked.at(Millis{120'001}, sources);
  REQUIRE(hints.size() == 1);
  CHECK(hints[0].starts_with(data.string() + " grows and no source reads it: "));
  CHECK(hints[0].contains("[logs] sources"));
}

TEST_CASE("source hints: bounded in number and length, each said once") {
  const test::TempFolder folder;
  std::vector<std::string> sources;
  for (int i = 0; i < 20; ++i)
    sources.push_back(
        (folder.path() / (std::to_string(i) + std::string(300, 'x') + "é") / std::string(200, 'y'))
            .string());
  test::CapturedStderr said;
  OwnLog log(false);
  Asked asked(log);
  const auto hints = asked.at(Millis{60'000}, sources);
  CHECK(hints.size() == wire::kHintsMax);
  for (const std::string& hint : hints) CHECK(hint.size() <= wire::kHintBytesMax);
  asked.at(Millis{120'001}, sources);
  CHECK(said.count("source \"") == wire::kHintsMax);
}

}  // namespace
}  // namespace l4::daemon
