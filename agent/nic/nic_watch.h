// Watches the network cards of this host: data counters ten times a second, errors once.
//
//   sysfs -> devices.h -> here: readings -> second_meter.h -> wire::NicNews -> the jobs of the node
//
// A state machine: it reads no clock but the one it is given to measure how long reads take. A card
// of which reading takes more than kSlow a counter is read half as often, down to once in
// kSlowest, and faster again once it answers quickly. Devices come and go: they are looked for
// every kScanEvery, and one whose counters cannot be read is closed until it is found again; it
// keeps its id. Bounds: wire::kNicsMax cards, kNewsMax seconds that wait, the oldest are dropped
// and counted. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/nic/devices.h"
#include "agent/nic/second_meter.h"
#include "common/base/time.h"
#include "common/wire/nics.h"

namespace l4::nic {

struct Moment {
  Millis steady{0};  ///< never set back
  TimeMs wall;
};

class NicWatch {
 public:
  /// A clock for spans alone.
  using Stopwatch = std::function<std::chrono::microseconds()>;

  static constexpr std::chrono::microseconds kSlow{1'000};
  static constexpr Millis kSlowest{1'000}, kScanEvery{10'000}, kErrorsEvery{1'000},
      kErrorsSlowest{16'000};
  static constexpr std::size_t kNewsMax = 64 * 60;

  struct Options {
    std::filesystem::path root = "/sys";
    Choice choice;
    std::string node;        ///< of the definitions
    int samples_per_s = 10;  ///< of the data counters; 1 to 10
    std::uint64_t busy_bytes = 4096;
  };
  struct Counts {
    std::uint64_t reads = 0, slow_reads = 0, seconds = 0, dropped = 0, rises = 0, lost = 0,
                  left_out = 0, wraps = 0, resets = 0;
    std::chrono::microseconds reading{0};
    std::size_t nics = 0, backed_off = 0;
  };

  /// Without a stopwatch no read is slow.
  NicWatch(Options options, Stopwatch stopwatch);

  /// Reads what is due.
  void poll(const Moment& now);
  /// When `poll` is due, on the steady clock.
  Millis due_at() const { return due_at_; }

  bool has_news() const { return !news_.empty(); }
  /// What is new since the last call.
  wire::NicNews take();
  /// All cards are defined again with the next news.
  void define_again();

  Counts counts() const;

 private:
  struct Watched {
    Device device;
    SecondMeter meter;
    std::uint16_t id = 0;
    Millis every{100}, errors_every{kErrorsEvery};
    Millis due{0}, errors_due{0};
    int quick = 0;  ///< reads since the last slow one
    struct Seen {
      std::uint64_t total = 0, pending = 0;
      Millis told{0};
      bool known = false, was_told = false;
    };
    std::vector<Seen> seen = {};  ///< by Device::counters
  };

  void scan(const Moment& now);
  void open(const std::filesystem::path& folder, const Moment& now);
  bool read_data(Watched& nic, const Moment& now);
  void read_errors(Watched& nic, const Moment& now);
  void note_rise(Watched& nic, std::size_t counter, std::uint64_t total, const Moment& now);
  std::chrono::microseconds elapsed() const;
  void drop_oldest();

  Options options_;
  Stopwatch stopwatch_;
  std::vector<Watched> nics_;
  std::map<std::string, std::uint16_t> ids_;  // by name: a card that comes back is the same
  std::vector<std::filesystem::path> gpus_;
  wire::NicNews news_;
  Millis due_at_{0}, scan_at_{0};
  Counts counts_;
};

}  // namespace l4::nic
