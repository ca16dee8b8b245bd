// Bytes that are held back until the owner of a log is known reach its pipeline as if they came
// then.
#include "agent/daemon/intake.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "tests/agent/host/fake_proc.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::daemon {
namespace {

using segment::test::packs;

struct IntakeBench {
  explicit IntakeBench(bool watched)
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
  /// The file is identified by its first `fingerprint_bytes` bytes.
  void bytes(const std::string& text, std::uint32_t fingerprint_bytes) {
    file.fingerprint_bytes = fingerprint_bytes;
    const tail::TextPosition place{log, file, path, offset, offset + text.size()};
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
    IntakeBench bench(watched);
    if (!watched) bench.decide();  // without watched processes the owner is decided at once
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

/// Jobs whose ranks write one file, one after another.
struct IntakeHost {
  host::test::FakeProc fake;
  const std::filesystem::path log = fake.file("logs/train.log");
  std::string boot_id() {
    const auto file_of_boot = fake.file("boot_id").string();
    std::ofstream{file_of_boot} << "0f0f-boot\n";
    return file_of_boot;
  }
  host::ProcessWatch watch{fake.proc(), {.boot_id_path = boot_id()}};
  tail::Now now{Millis{1'000'000}, from_civil(2026, 11, 20, 10, 0, 0, 0)};
  Owners owners{{"", "", "node-1"}, &watch};
  std::vector<wire::Batch> shipped;
  int looked_for = 0;
  Jobs jobs{
      packs(), IntakeBench::live(), {}, [this](wire::Batch&& batch) { shipped.push_back(batch); }};
  Intake intake{{},
                owners,
                jobs,
                {{},
                 {},
                 {},
                 [this] {
                   ++looked_for;
                   watch.ask_scan();
                 },
                 {}},
                true};
  const std::string path = log.string(), root = log.parent_path().string();
  wire::FileId file;
  std::uint64_t offset = 0;

  IntakeHost() {
    const host::FileKey key = host::test::key_of(log);
    file.key = 7;
    file.device = key.device;
    file.inode = key.inode;
    watch.add_log({path, "", key});
  }
  void run(int pid, const std::string& job) {
    fake.set(pid, {.start_ticks = 90'000 + pid,
                   .environment = {"SLURM_JOB_ID=" + job, "SLURM_STEP_ID=0", "SLURM_PROCID=0"}});
    fake.open(pid, 1, log);
  }
  void after(int ms) {
    now.steady += Millis{ms};
    now.wall += Millis{ms};
    intake.set_time(now);
    if (!watch.poll({now.wall, now.steady}).empty()) intake.update_owners();
    intake.decide();
    jobs.flush(now.steady, true);
  }
  void write(const std::string& text) {
    const tail::TextPosition place{tail::LogId{1}, file, path, offset, offset + text.size()};
    if (offset == 0) {
      intake.log_begins({tail::LogId{1}, path, root});
      intake.part(place, 0);
    }
    intake.bytes(place, text);
    offset += text.size();
  }
  /// Bytes of the file that a job's batches cover, and how many lines.
  std::string covered(const std::string& job) const {
    std::uint64_t from = ~std::uint64_t{0}, to = 0, lines = 0;
    for (const wire::Batch& batch : shipped)
      for (const wire::Coverage& coverage : batch.coverage) {
        if (batch.job != job) continue;
        from = std::min(from, coverage.bytes.from);
        to = std::max(to, coverage.bytes.to);
        lines += coverage.lines;
      }
    return std::to_string(from) + "-" + std::to_string(to) + ": " + std::to_string(lines);
  }
};

TEST_CASE("intake: the next job that appends to a file gets its own lines from there on") {
  IntakeHost host;
  host.run(101, "7");
  host.write("INFO step 1\nINFO step 2\n");
  host.after(1'000);
  CHECK(host.jobs.find("7") != nullptr);
  host.fake.remove(101);
  host.after(1'000);
  host.write("INFO bye\n");  // its last words, read late
  host.after(60'000);
  host.after(60'000);  // by now the search for processes is over
  CHECK(host.looked_for == 0);
  host.run(102, "8");
  host.write("INFO step 1\n");
  CHECK(host.looked_for == 1);
  host.after(500);
  host.write("INFO step 2\nINFO step 3\n");
  host.after(2'500);
  CHECK(host.covered("7") == "0-33: 3");
  CHECK(host.covered("8") == "33-69: 3");
  std::vector<wire::LineRange> lines;
  for (const wire::Batch& batch : host.shipped)
    for (const wire::Segment& segment : batch.segments)
      if (batch.job == "8") lines.push_back(segment.lines);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.front().first == 4);
  CHECK(lines.back().last == 6);
}

TEST_CASE("intake: a job that goes on after its ranks have left keeps its log") {
  IntakeHost host;
  host.run(101, "7");
  host.write("INFO step 1\n");
  host.after(1'000);
  host.fake.remove(101);
  host.after(1'000);
  host.after(10'000);
  host.write("INFO the launcher writes on\n");
  CHECK(host.looked_for == 1);
  host.after(2'500);
  CHECK(host.covered("7") == "0-40: 2");
  host.write("INFO and on\n");  // one line asks for no further scan
  CHECK(host.looked_for == 1);
  host.after(100);
  CHECK(host.covered("7") == "0-52: 3");
  CHECK(host.jobs.size() == 1);
}

/// Logs of several jobs below one folder; those in torchrun's folders are named by their paths.
struct IntakeShelf {
  Owners owners{{"", "", "node-1"}, nullptr};
  Jobs jobs{packs(), IntakeBench::live(), {.jobs_max = 8}, [](wire::Batch&&) {}};
  Intake intake{{}, owners, jobs, {}, true};
  tail::Now now{Millis{1'000'000}, from_civil(2026, 11, 20, 10, 0, 0, 0)};
  std::uint32_t logs = 0;

  IntakeShelf() { intake.set_time(now); }
  void begins(const std::string& path) {
    const tail::LogId log{++logs};
    intake.log_begins({log, path, "/logs"});
    wire::FileId file;
    file.inode = logs;
    intake.part({log, file, path, 0, 0}, 0);
  }
  void says(std::uint32_t log, const std::string& text) {
    wire::FileId file;
    file.inode = log;
    intake.bytes({tail::LogId{log}, file, "", 0, text.size()}, text);
  }
  static std::string launcher(int job) { return fmt::format("/logs/j{}/node-01/agent.log", job); }
  static std::string rank(int job) {
    return fmt::format("/logs/j{0}/node-01/job-{0}_y72_4v27/attempt_0/0/stdout.log", job);
  }
  void after(int ms) {
    now.steady += Millis{ms};
    intake.set_time(now);
    intake.decide();
  }
  /// Job of the log that began as `number`; empty: not decided.
  std::string job(std::uint64_t number) const { return intake.job_of(host::FileKey{0, number}); }
};

TEST_CASE("intake: a launcher's log is of its own job, whichever is looked at first") {
  IntakeShelf shelf;
  for (int job = 1; job <= 3; ++job) {
    shelf.begins(IntakeShelf::launcher(job));
    shelf.begins(IntakeShelf::rank(job));
  }
  shelf.after(2'500);
  for (std::uint64_t log = 1; log <= 6; ++log) {
    CAPTURE(log);
    CHECK(shelf.job(log) == fmt::format("job-{}", (log + 1) / 2));
  }
}

TEST_CASE("intake: a launcher's log waits for its ranks, though another job is there") {
  IntakeShelf shelf;
  shelf.begins(IntakeShelf::rank(1));
  shelf.after(2'500);
  CHECK(shelf.job(1) == "job-1");
  shelf.begins(IntakeShelf::launcher(2));
  shelf.begins(IntakeShelf::launcher(3));
  shelf.after(6'000);
  CHECK(shelf.job(2).empty());
  shelf.begins(IntakeShelf::rank(2));
  shelf.after(2'500);
  CHECK(shelf.job(2) == "job-2");
  CHECK(shelf.job(3).empty());
  shelf.after(2'500);
  // A log in /logs belongs to neither job; its job is named after the folder.
  CHECK(shelf.job(3) == "logs");
}

TEST_CASE("intake: a launcher's log waits for its ranks, however much of theirs is held back") {
  IntakeShelf shelf;
  shelf.begins(IntakeShelf::launcher(1));
  shelf.after(200);
  shelf.begins(IntakeShelf::rank(1));
  shelf.says(2, std::string(1'500'000, 'x') + "\n");
  shelf.after(1'900);
  CHECK_FALSE(shelf.intake.has_room());
  CHECK(shelf.job(1).empty());
  shelf.after(200);
  CHECK(shelf.job(2) == "job-1");
  CHECK(shelf.job(1) == "job-1");
}

TEST_CASE("intake: what nobody names is of the one job that is there") {
  IntakeShelf shelf;
  shelf.begins(IntakeShelf::rank(1));
  shelf.begins("/logs/notes/extra.log");
  shelf.begins(IntakeShelf::launcher(7));
  shelf.after(2'500);
  CHECK(shelf.job(2) == "job-1");
  CHECK(shelf.job(3).empty());
  shelf.after(10'000);
  CHECK(shelf.job(3) == "job-1");
}

TEST_CASE("intake: a warning goes to the job of its file, or of what stands nearest") {
  std::vector<wire::Batch> shipped;
  Owners owners{{"", "", "node-1"}, nullptr};
  Jobs jobs(packs(), IntakeBench::live(), {},
            [&](wire::Batch&& batch) { shipped.push_back(std::move(batch)); });
  Intake intake({}, owners, jobs, {}, false);
  intake.set_time({Millis{1'000}, from_civil(2026, 11, 20, 10, 0, 0, 0)});
  const std::string alpha = "/logs/alpha", beta = "/logs/beta";
  const std::string a = alpha + "/rank0.log", b = beta + "/rank0.log";
  intake.warning({"unreadable", "/logs/beta/rank1.log", "Permission denied", 0});
  intake.decide();
  intake.log_begins({tail::LogId{1}, a, alpha});
  intake.log_begins({tail::LogId{2}, b, beta});
  intake.warning({"skipped", b, "old", 9});
  intake.decide();
  intake.decide();
  jobs.flush(Millis{1'000}, true);
  std::map<std::string, std::string> warned;
  for (const wire::Batch& batch : shipped)
    for (const wire::Warning& warning : batch.warnings) warned[warning.file] = batch.job;
  REQUIRE(jobs.size() == 2);
  REQUIRE(warned.size() == 2);
  CHECK(warned[b] == warned["/logs/beta/rank1.log"]);
  CHECK(warned[b] != jobs.first().job());
}

/// Names of users that become known in the middle.
struct UsedLogs {
  std::map<std::uint32_t, std::string> names;
  std::vector<wire::Batch> shipped;
  Owners owners{{"", "", "node-1"}, nullptr};
  Jobs jobs{
      packs(), IntakeBench::live(), {}, [this](wire::Batch&& batch) { shipped.push_back(batch); }};
  Intake intake{{}, owners, jobs, listeners(), false};
  const std::string path = "/logs/job-1/rank0.log", root = "/logs";
  wire::FileId file;
  std::uint64_t offset = 0;

  UsedLogs() {
    file.key = 7;
    intake.set_time({Millis{1'000}, from_civil(2026, 11, 20, 10, 0, 0, 0)});
    intake.log_begins({tail::LogId{1}, path, root});
  }
  Intake::Listeners listeners() {
    Intake::Listeners given;
    given.user_name = [this](std::uint32_t id) {
      const auto known = names.find(id);
      return known == names.end() ? std::nullopt : std::optional(known->second);
    };
    return given;
  }
  void write(std::uint32_t user, bool new_part) {
    const std::string text = "INFO going on\n";
    const tail::TextPosition place{tail::LogId{1}, file, path, offset, offset + text.size(), user};
    if (new_part) intake.part(place, 0);
    intake.bytes(place, text);
    offset += text.size();
  }
  /// The user of the source as it was defined last.
  std::string told() {
    intake.decide();
    jobs.flush(Millis{1'000}, true);
    std::string user = "never defined";
    for (const wire::Batch& batch : shipped)
      for (const wire::SourceDefinition& source : batch.sources) user = source.user;
    return user;
  }
};

TEST_CASE("intake: the user of a log is told with its source, or once the name is known") {
  UsedLogs known;
  known.names[7] = "alice";
  known.write(7, true);
  CHECK(known.told() == "alice");
  UsedLogs later;
  later.write(7, true);
  CHECK(later.told().empty());
  const std::size_t batches = later.shipped.size();
  later.names[7] = "alice";
  later.intake.update_users();
  CHECK(later.told() == "alice");
  CHECK(later.shipped.size() == batches + 1);
  later.intake.update_users();
  CHECK(later.told() == "alice");
  CHECK(later.shipped.size() == batches + 1);  // nothing new
}

TEST_CASE("intake: a part of another owner is told, too") {
  UsedLogs log;
  log.names = {{7, "alice"}, {8, "bob"}};
  log.write(7, true);
  CHECK(log.told() == "alice");
  log.write(8, true);
  CHECK(log.told() == "bob");
}

}  // namespace
}  // namespace l4::daemon
