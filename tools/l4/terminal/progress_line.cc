#include "tools/l4/terminal/progress_line.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <system_error>

#include "common/base/mutex.h"
#include "common/base/thread.h"

namespace l4::terminal {

ProgressLine::ProgressLine(const offline::Progress& progress, bool enabled) : progress_(progress) {
  if (!enabled) return;
  try {
    thread_ = start_thread("l4-progress", [this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    return;  // no thread can be started: the work itself fails and reports it
  }
}

void ProgressLine::run(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPeriod{500};
  const auto began = Clock::now();
  Mutex mutex;
  CondVar wake;
  MutexLock lock(mutex);
  while (!wake.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); })) {
    const std::chrono::duration<double> spent = Clock::now() - began;
    if (spent.count() < 1) continue;
    const auto done = static_cast<double>(progress_.bytes_done.load(std::memory_order_relaxed));
    const auto all = static_cast<double>(progress_.bytes_all.load(std::memory_order_relaxed));
    const double rate = done / spent.count();
    const double left = rate > 0 && all > done ? (all - done) / rate : 0;
    const auto text =
        fmt::format("\rreading {:.1f} of {:.1f} MB, {:.0f} MB/s, {:.0f} s left \x1b[K", done / 1e6,
                    all / 1e6, rate / 1e6, left);
    std::fwrite(text.data(), 1, text.size(), stderr);
    shown_ = true;
  }
}

void ProgressLine::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace l4::terminal
