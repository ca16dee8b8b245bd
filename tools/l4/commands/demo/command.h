// `l4 demo`: the whole live system on this machine, while a recorded job runs again and breaks.
//
// Flow: command line -> run_demo -> play.h.
#pragma once

#include <filesystem>
#include <string>

#include "tools/l4/terminal/command.h"

namespace l4::commands::demo {

/// Bounds of --speed.
inline constexpr double kSlowest = 0.1, kFastest = 1000;

struct DemoOptions {
  std::filesystem::path logs;  ///< empty: the sample that is shipped
  double speed = 1;
  bool keep = false;
  std::string format = "text";
};

/// The row of `l4 demo`.
terminal::Command demo_command();

}  // namespace l4::commands::demo
