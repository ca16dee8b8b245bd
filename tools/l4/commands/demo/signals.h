// The signals that end a demo, kept for the loop that looks for them.
//
// Made before any thread and any child. One owner.
#pragma once

#include <csignal>
#include <optional>

#include "common/base/descriptor.h"

namespace l4::commands::demo {

class Signals {
 public:
  /// SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on, but those that are ignored.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Becomes readable when one has come.
  int descriptor() const { return arrived_.number(); }
  /// The first one that has come.
  std::optional<int> come();

 private:
  sigset_t former_{};
  Descriptor arrived_;
  std::optional<int> first_;
};

}  // namespace l4::commands::demo
