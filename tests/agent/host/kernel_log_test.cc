#include "agent/host/kernel_log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <vector>

#include "agent/decode/decoder.h"
#include "tests/temp_folder.h"

namespace l4::host {
namespace {

using l4::test::TempFolder;
using std::chrono::seconds;

const TimeMs kWall{Millis{1'700'000'000'000}};

struct Reader {
  explicit Reader(KernelLog::Options options) : log(std::move(options)) {}
  KernelLog log;
  HostTime now{kWall, seconds{1000}};
  std::vector<KernelRecord> records;

  bool poll(Millis later = Millis{0}) {
    now.wall += later;
    now.boot += later;
    return log.poll(now, [&](const KernelRecord& record) { records.push_back(record); });
  }
};

std::string line(unsigned sequence, const std::string& text, long stamp_us = 900'000'000,
                 unsigned priority = 6) {
  return std::to_string(priority) + "," + std::to_string(sequence) + "," +
         std::to_string(stamp_us) + ",-;" + text + "\n";
}

/// A file that grows, as the kernel's log would.
struct Growing {
  TempFolder folder;
  std::string path = folder.file("kmsg", "").string();
  void add(const std::string& text) { std::ofstream{path, std::ios::app} << text; }
};

TEST_CASE("kernel log: records with time, level and text") {
  Growing file;
  file.add("3,17,990500000,-;nvme nvme0: controller is down\n SUBSYSTEM=nvme\n DEVICE=+pci:0\n");
  file.add("30,18,990600000,-,caller=T1;systemd[1]: started\\x0a\\x5cnext \\xc3\\xa4\n");
  Reader reader{{.path = file.path}};
  CHECK_FALSE(reader.poll());
  REQUIRE(reader.records.size() == 2);
  const KernelRecord& first = reader.records[0];
  CHECK(first.sequence == 17);
  CHECK(first.level == Level::error);
  CHECK(first.kernel);
  CHECK(first.text == "nvme nvme0: controller is down");
  CHECK(first.since_boot == SinceBoot{990'500'000});
  CHECK(first.time == kWall - Millis{9500});
  CHECK_FALSE(reader.records[1].kernel);
  CHECK(reader.records[1].text == "systemd[1]: started\n\\next \xc3\xa4");
  CHECK(reader.log.next_sequence() == 19);
  file.add(line(19, "more"));
  reader.poll();
  CHECK(reader.records.size() == 3);
  CHECK(reader.log.stats().lost == 0);
}

TEST_CASE("kernel log: as lines that the decoder reads with time and level") {
  KernelRecord record;
  record.time = kWall + Millis{7};
  record.priority = 3;
  record.text = "first\nsecond";
  const std::string lines = as_lines(record);
  CHECK(lines ==
        "kern  :err   : 2023-11-14T22:13:20,007000+00:00 first\n"
        "kern  :err   : 2023-11-14T22:13:20,007000+00:00 second\n");
  std::vector<std::string> texts;
  decode::Decoder decoder{{}, [&](const decode::Record& one) {
                            texts.emplace_back(one.text);
                            CHECK(one.time == kWall + Millis{7});
                            CHECK(one.level == Level::error);
                          }};
  decoder.feed(lines);
  decoder.finish();
  CHECK(texts == std::vector<std::string>{"first", "second"});
}

TEST_CASE("kernel log: overwritten records are a gap, and where to go on is kept") {
  Growing file;
  file.add(line(10, "a") + line(11, "b") + line(15, "c"));
  Reader reader{{.path = file.path, .next = 11}};
  reader.poll();
  REQUIRE(reader.records.size() == 2);
  CHECK(reader.records[0].text == "b");
  CHECK(reader.log.stats().seen_before == 1);
  CHECK(reader.log.stats().lost == 3);
  CHECK(reader.log.next_sequence() == 16);

  Reader later{{.path = file.path, .next = 4}};
  later.poll();
  CHECK(later.log.stats().lost == 9);
  CHECK(later.records.size() == 3);
}

TEST_CASE("kernel log: from the end on, or from before a job's begin not") {
  Growing file;
  file.add(line(1, "boot", 1'000'000) + line(2, "old", 500'000'000));
  Reader end{{.path = file.path, .from_end = true}};
  end.poll();
  CHECK(end.records.empty());
  file.add(line(3, "new", 999'000'000));
  end.poll();
  REQUIRE(end.records.size() == 1);
  CHECK(end.records[0].text == "new");
  CHECK(end.log.stats().lost == 0);

  Reader fenced{{.path = file.path}};
  fenced.log.fence(seconds{600});
  fenced.poll();
  CHECK(fenced.records.size() == 1);
  CHECK(fenced.log.stats().fenced == 2);
}

TEST_CASE("kernel log: a stamp that lags or leads is held between the polls") {
  Growing file;
  Reader reader{{.path = file.path}};
  reader.poll();
  file.add(line(1, "lags", 990'000'000) + line(2, "leads", 2'000'000'000));
  reader.poll(Millis{500});
  REQUIRE(reader.records.size() == 2);
  CHECK(reader.records[0].since_boot == SinceBoot{1'000'000'000});
  CHECK(reader.records[0].time == kWall);
  CHECK(reader.records[1].since_boot == SinceBoot{1'000'500'000});
  // The wall clock is set back by an hour: time since boot is not.
  reader.now.wall -= std::chrono::hours{1};
  file.add(line(3, "after", 1'001'000'000));
  reader.poll(Millis{500});
  CHECK(reader.records[2].time == kWall + Millis{1000} - std::chrono::hours{1});
}

TEST_CASE("kernel log: a FIFO may end within a record") {
  TempFolder folder;
  const std::string path = (folder.path() / "kmsg").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  Reader reader{{.path = path}};
  CHECK_FALSE(reader.poll());
  const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const std::string whole = line(5, "in two pieces");
  CHECK(::write(writer, whole.data(), 9) == 9);
  CHECK_FALSE(reader.poll());
  CHECK(reader.records.empty());
  CHECK(::write(writer, whole.data() + 9, whole.size() - 9) > 0);
  reader.poll();
  REQUIRE(reader.records.size() == 1);
  CHECK(reader.records[0].text == "in two pieces");
  ::close(writer);
}

TEST_CASE("kernel log: what is no record is counted, and long lines are passed over") {
  Growing file;
  file.add("garbage\n,,,;x\n6,1,-5,-;negative\n99999999,2,1,-;priority\n6,3,4\n\n");
  file.add(std::string(100'000, 'x') + "\n" + line(7, "good"));
  Reader reader{{.path = file.path}};
  reader.poll();
  REQUIRE(reader.records.size() == 1);
  CHECK(reader.records[0].text == "good");
  CHECK(reader.log.stats().malformed == 6);
}

TEST_CASE("kernel log: any bytes in any pieces, and each good record is found") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    Growing file;
    Reader reader{{.path = file.path}};
    std::size_t good = 0;
    for (unsigned piece = 0; piece < 40; ++piece) {
      std::string bytes;
      for (unsigned i = random() % 200; i-- > 0;)
        bytes.push_back("0123,;-\\x \n\0az"[random() % 15]);
      file.add(bytes + "\n");
      file.add(line(4'000'000'000U + piece, "good"));
      if (random() % 2 == 0) reader.poll(Millis{1});
    }
    reader.poll();
    for (const KernelRecord& record : reader.records) good += record.text == "good" ? 1U : 0U;
    CHECK(good == 40);
  }
}

TEST_CASE("kernel log: so many at a time") {
  Growing file;
  for (unsigned i = 0; i < 5000; ++i) file.add(line(i, std::string(100, 'y')));
  Reader reader{{.path = file.path, .records_per_poll = 3}};
  CHECK(reader.poll());
  const std::size_t first = reader.records.size();
  CHECK(first < 5000);
  while (reader.poll()) {
  }
  CHECK(reader.records.size() == 5000);
  CHECK(reader.log.stats().lost == 0);
}

TEST_CASE("kernel log: what cannot be opened is said once and tried again") {
  TempFolder folder;
  const std::string path = (folder.path() / "kmsg").string();
  Reader reader{{.path = path}};
  CHECK_FALSE(reader.poll());
  CHECK(reader.log.flush_notices().size() == 1);
  CHECK(reader.log.descriptor() == -1);
  for (int i = 0; i < 10; ++i) reader.poll(seconds{31});
  CHECK(reader.log.flush_notices().empty());
  folder.file("kmsg", line(1, "there"));
  reader.poll(seconds{1});
  CHECK(reader.records.empty());  // not yet
  reader.poll(seconds{30});
  CHECK(reader.records.size() == 1);
}

TEST_CASE("kernel log: permission is named") {
  if (::geteuid() != 0) return;  // only root can become a user without permission
  TempFolder folder;
  const auto path = folder.file("kmsg", line(1, "x"));
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  Reader reader{{.path = path.string()}};
  REQUIRE(::seteuid(65534) == 0);
  reader.poll();
  REQUIRE(::seteuid(0) == 0);
  const auto notices = reader.log.flush_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].text.find("CAP_SYSLOG") != std::string::npos);
}

TEST_CASE("kernel log: the kernel's own, where it may be read") {
  Reader reader{{.path = "/dev/kmsg"}};
  reader.now = host_time();
  while (reader.poll()) {
  }
  if (reader.log.descriptor() < 0) return;
  for (const KernelRecord& record : reader.records) CHECK(record.since_boot <= reader.now.boot);
  CHECK(reader.log.stats().malformed == 0);
}

}  // namespace
}  // namespace l4::host
