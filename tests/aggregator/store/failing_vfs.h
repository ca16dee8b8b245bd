// SQLite's file system with calls that fail on demand: writing, syncing, cutting, opening.
//
// Registered while it lives; one at a time, one thread.
#pragma once

#include <string>

namespace l4::store::test {

class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  std::string name() const { return "l4-failing"; }
  /// The calls numbered [first, first + count) from now on fail: disk full, or an I/O error.
  void fail(int first, int count);
  void heal() { fail(0, 0); }
};

}  // namespace l4::store::test
