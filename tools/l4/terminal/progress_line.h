// One line on standard error while long input is read: share, rate, time left.
// Owns a thread that wakes twice a second; shows nothing in the first second. Does nothing unless
// standard error is a terminal. The line is erased when it stops.
#pragma once

#include <stop_token>
#include <thread>

#include "offline/progress.h"

namespace l4::terminal {

class ProgressLine {
 public:
  ProgressLine(const offline::Progress& progress, bool enabled);
  ~ProgressLine() { stop(); }
  void stop();

 private:
  void run(const std::stop_token& stop);

  const offline::Progress& progress_;
  bool shown_ = false;
  std::jthread thread_;
};

}  // namespace l4::terminal
