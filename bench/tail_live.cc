// The cost of following logs live: writes 8 files at 10 MB/s for some seconds, then nothing, and
// prints the processor time of the tailer in both phases. Exits with 1 if bytes are missing.
//
// usage: l4_tail_live [SECONDS]
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/tail/tailer.h"

namespace {

using namespace l4;
using Clock = std::chrono::steady_clock;

class Count : public tail::Sink {
 public:
  void log_begins(const tail::LogBegin&) override {}
  void part(const tail::TextPosition&, std::uint64_t) override {}
  void bytes(const tail::TextPosition&, std::string_view some) override { bytes_ += some.size(); }
  void missing(const tail::TextPosition&, std::uint64_t, tail::Missing) override {}
  void quiet(tail::LogId) override {}
  void log_ends(tail::LogId) override {}
  void forgotten(const wire::FileId&) override {}
  void warning(const wire::Warning& warning) override {
    std::fprintf(stderr, "%s: %s\n", warning.file.c_str(), warning.reason.c_str());
  }
  std::uint64_t bytes_ = 0;
};

double used() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return double(time.tv_sec) + double(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Follows the files for some seconds; returns the used share of a core.
double follow(tail::Tailer& tailer, Count& sink, double seconds) {
  const double before = used();
  const auto begin = Clock::now();
  const auto now = [] {
    return tail::Now{std::chrono::duration_cast<Millis>(Clock::now().time_since_epoch()),
                     std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now())};
  };
  while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    if (tailer.turn(sink, now())) continue;
    const tail::Wait wait = tailer.wait(now());
    pollfd wanted{wait.fd, POLLIN, 0};
    const std::chrono::duration<double> left =
        begin + std::chrono::duration<double>(seconds) - Clock::now();
    const auto rest = static_cast<std::int64_t>(std::max(0.0, left.count()) * 1000) + 1;
    const auto most = std::min<std::int64_t>(wait.at_most.value_or(Millis{rest}).count(), rest);
    ::poll(&wanted, wait.fd >= 0 ? 1 : 0, static_cast<int>(most));
  }
  return (used() - before) / seconds;
}

}  // namespace

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  const auto folder =
      std::filesystem::temp_directory_path() / ("l4_tail_live_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  tail::Options options;
  options.sources = {folder};
  auto watcher = tail::make_inotify_watcher();
  auto tailer = tail::Tailer::make(options, tail::real_file_system(),
                                   watcher ? std::move(*watcher) : tail::make_blind_watcher());
  tailer->resume({});
  std::atomic<std::uint64_t> written = 0;
  std::jthread writer([&](const std::stop_token& stop) {
    std::vector<std::ofstream> files;
    for (int i = 0; i < 8; ++i) files.emplace_back(folder / ("rank" + std::to_string(i) + ".log"));
    const std::string line = std::string(119, 'x') + "\n";
    const auto begin = Clock::now();
    while (!stop.stop_requested()) {
      const double due = std::chrono::duration<double>(Clock::now() - begin).count() * 10e6;
      for (std::size_t i = 0; double(written) < due; i = (i + 1) % files.size()) {
        files[i] << line << std::flush;
        written += line.size();
      }
      std::this_thread::sleep_for(Millis{1});
    }
  });
  Count sink;
  const double busy = follow(*tailer, sink, seconds);
  writer.request_stop();
  writer.join();
  follow(*tailer, sink, 3);
  const std::uint64_t turns = tailer->counters().turns;
  const double idle = follow(*tailer, sink, seconds);
  std::printf("written %.1f MB, read %.1f MB\n", double(written) / 1e6, double(sink.bytes_) / 1e6);
  std::printf("at 10 MB/s: %.2f %% of a core; idle: %.3f %%, %llu turns in %.0f s\n", 100 * busy,
              100 * idle, static_cast<unsigned long long>(tailer->counters().turns - turns),
              seconds);
  std::filesystem::remove_all(folder);
  return written == sink.bytes_ ? 0 : 1;
}
