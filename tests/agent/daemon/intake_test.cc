// What is held back until it is known whose a log is goes to its pipeline as if it had come then.
#include "agent/daemon/intake.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::daemon {
namespace {

const segment::RulePackSet& packs() {
  static const auto set = segment::RulePackSet::load(L4_SOURCE_DIR "/config/frameworks");
  REQUIRE(set);
  return *set;
}

struct Bench {
  explicit Bench(bool watched)
      : jobs(packs(), live(), {.jobs_max = 4},
             [this](wire::Batch&& batch) { shipped.push_back(batch); }),
        intake({}, owners, jobs, {}, watched) {
    intake.set_time(now);
    intake.log_begins({log, path, root});
    file.key = 7;
  }
  static pipeline::Options live() {
    pipeline::Options options;
    options.live = true;
    return options;
  }
  /// The file is known by its first bytes, so many.
  void bytes(const std::string& text, std::uint32_t fingerprint_bytes) {
    file.fingerprint_bytes = fingerprint_bytes;
    const tail::Place place{log, file, path, offset, offset + text.size()};
    if (offset == 0) intake.part(place, 0);
    intake.bytes(place, text);
    offset += text.size();
  }
  void decide() {
    now.steady += Millis{10'000};
    intake.set_time(now);
    intake.decide();
    jobs.flush(now.steady, true);
  }

  const tail::LogId log{1};
  const std::string path = "/logs/job-1/rank0.log", root = "/logs";
  wire::FileId file;
  std::uint64_t offset = 0;
  tail::Now now{Millis{1'000}, from_civil(2026, 11, 20, 10, 0, 0, 0)};
  std::vector<wire::Batch> shipped;
  Owners owners{{"", "", "node-1"}, nullptr};
  Jobs jobs;
  Intake intake;
};

TEST_CASE("intake: what is held back is shipped whole, of the file as it was known last") {
  for (const bool watched : {false, true}) {
    CAPTURE(watched);
    Bench bench(watched);
    if (!watched) bench.decide();  // nothing is waited for
    bench.bytes("2026-11-20 10:00:00 INFO setting up\n", 36);
    bench.bytes("2026-11-20 10:00:01 INFO going on\n", 70);
    if (watched) CHECK(bench.shipped.empty());
    bench.decide();
    REQUIRE(bench.shipped.size() == 1);
    REQUIRE(bench.shipped[0].coverage.size() == 1);
    const wire::Coverage& covered = bench.shipped[0].coverage[0];
    CHECK(covered.bytes == wire::ByteRange{0, bench.offset});
    CHECK(covered.lines == 2);
    CHECK(covered.bytes_known == bench.offset);
    CHECK(covered.file.fingerprint_bytes == 70);
  }
}

}  // namespace
}  // namespace l4::daemon
