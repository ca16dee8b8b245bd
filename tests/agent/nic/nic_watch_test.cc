#include "agent/nic/nic_watch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tests/agent/nic/made_sysfs.h"

namespace l4::nic {
namespace {

using std::chrono::microseconds;
using test::MadeSysfs;

/// A watch over a made tree and a clock that tests move; a read takes `read_takes`.
struct Bench {
  Bench() { sysfs.ethernet("eth0", sysfs.pci("pci0000:00", "0000:00:1f.6", "e1000e")); }
  void start(int samples_per_s = 10) {
    NicWatch::Options options;
    options.root = sysfs.root();
    options.node = "node-a";
    options.samples_per_s = samples_per_s;
    watch.emplace(options, [this] { return microseconds{calls++ * read_takes.count()}; });
  }
  /// Polls when it is due; `each` is called before.
  template <class Each>
  int run(Millis span, Each each) {
    int polls = 0;
    for (const Millis end = now.steady + span; now.steady < end;) {
      const Millis step = std::max(Millis{1}, watch->due_at() - now.steady);
      now.steady += step;
      now.wall += step;
      each();
      watch->poll(now);
      ++polls;
    }
    return polls;
  }
  int run(Millis span) {
    return run(span, [] {});
  }

  MadeSysfs sysfs;
  Moment now{Millis{50'000}, TimeMs{Millis{1'800'000'000'000}}};
  microseconds read_takes{2};
  std::int64_t calls = 0;
  std::optional<NicWatch> watch;
};

TEST_CASE("nic watch: data ten times a second, a row a second, the card is defined once") {
  Bench bench;
  bench.start();
  std::uint64_t sent = 0;
  const int polls =
      bench.run(Millis{3'000}, [&] { bench.sysfs.set("eth0", "tx_bytes", sent += 100'000); });
  CHECK(polls >= 29);
  CHECK(polls <= 32);
  const wire::NicNews news = bench.watch->take();
  REQUIRE(news.definitions.size() == 1);
  CHECK(news.definitions[0].name == "eth0");
  CHECK(news.definitions[0].node == "node-a");
  CHECK(news.seconds.size() >= 2);
  CHECK(news.seconds.back().sent == doctest::Approx(1'000'000).epsilon(.01));
  bench.run(Millis{2'000});
  CHECK(bench.watch->take().definitions.empty());
  bench.watch->define_again();
  CHECK(bench.watch->take().definitions.size() == 1);
}

TEST_CASE("nic watch: what an error counter has at first is no news, what it rises by is") {
  Bench bench;
  bench.sysfs.set("eth0", "rx_crc_errors", 40);
  bench.sysfs.set("eth0", "rx_dropped", 7);
  bench.start();
  bench.run(Millis{3'000});
  CHECK(bench.watch->take().rises.empty());
  bench.sysfs.set("eth0", "rx_crc_errors", 52);
  bench.sysfs.set("eth0", "rx_dropped", 8);
  bench.run(Millis{2'000});
  auto rises = bench.watch->take().rises;
  std::ranges::sort(rises, {}, &wire::NicRise::counter);
  REQUIRE(rises.size() == 2);
  CHECK(rises[0].counter == "rx_crc_errors");
  CHECK(rises[0].fault);
  CHECK(rises[0].rise == 12);
  CHECK(rises[0].total == 52);
  CHECK_FALSE(rises[1].fault);
}

TEST_CASE("nic watch: a counter that goes on rising is told of every five seconds, all of it") {
  Bench bench;
  bench.start();
  bench.sysfs.set("eth0", "rx_errors", 0);
  std::uint64_t total = 0;
  bench.start();
  bench.run(Millis{22'000}, [&] { bench.sysfs.set("eth0", "rx_errors", ++total); });
  const auto rises = bench.watch->take().rises;
  CHECK(rises.size() >= 4);
  CHECK(rises.size() <= 6);
  std::uint64_t sum = 0;
  for (const auto& one : rises) sum += one.rise;
  CHECK(sum + 60 > total);
}

TEST_CASE("nic watch: a card that answers slowly is read more rarely, and faster again later") {
  Bench bench;
  bench.start();
  bench.read_takes = microseconds{5'000};
  bench.run(Millis{5'000});
  CHECK(bench.watch->counts().backed_off == 1);
  CHECK(bench.run(Millis{10'000}) <= 21);
  CHECK(bench.watch->counts().slow_reads > 0);
  bench.read_takes = microseconds{2};
  bench.run(Millis{200'000});
  CHECK(bench.watch->counts().backed_off == 0);
}

TEST_CASE("nic watch: cards come and go, and one that comes back is the same") {
  Bench bench;
  bench.start();
  bench.run(Millis{1'000});
  bench.sysfs.ethernet("eth1", bench.sysfs.root() / "devices/pci0000:00/0000:00:1f.6");
  bench.run(Millis{11'000});
  CHECK(bench.watch->counts().nics == 2);
  bench.sysfs.remove("eth1");
  bench.run(Millis{11'000});
  CHECK(bench.watch->counts().nics == 1);
  bench.watch->take();
  bench.sysfs.ethernet("eth1", bench.sysfs.root() / "devices/pci0000:00/0000:00:1f.6");
  bench.run(Millis{11'000});
  const auto defined = bench.watch->take().definitions;
  REQUIRE(defined.size() == 1);
  CHECK(defined[0].nic == 1);
  CHECK(defined[0].name == "eth1");
}

TEST_CASE("nic watch: without cards it sleeps between looks for them") {
  Bench bench;
  bench.sysfs.remove("eth0");
  bench.start();
  CHECK(bench.run(Millis{60'000}) <= 8);
}

}  // namespace
}  // namespace l4::nic
