// Where questions for raw lines are answered: one thread that reads, so that tailing goes on.
//
// Flow: agent/daemon gives tasks and takes answers, on its own thread; in between one task at a
// time is read for (read_lines.h). Nothing is shared but the two queues. Bounds: kWaitingMax tasks
// wait, their answers as Bounds says. The thread begins with the first task.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agent/lines/task.h"
#include "agent/tail/file_system.h"

namespace l4::lines {

struct Done {
  std::uint64_t number = 0;
  std::vector<wire::LinesAnswer> parts;  ///< at least one
};

class Desk {
 public:
  static constexpr std::size_t kWaitingMax = 4;

  /// `files` is used on the desk's thread too, and outlives it.
  explicit Desk(tail::FileSystem& files);
  /// What is under way is given up.
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  /// False: too many wait.
  bool give(Task task);
  std::optional<Done> take();
  /// Nobody waits any more for what was given until now.
  void forget();
  /// Something was given that was neither taken nor forgotten.
  bool works() const;
  /// Readable while there is something to take; -1 if the system gives none.
  int descriptor() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::lines
