// Answers questions for raw lines on a thread of its own, so that tailing goes on.
//
// Flow: agent/daemon submits tasks and polls answers on its own thread; the desk's thread answers
// one task at a time (read_lines.h). Only the two queues are shared, under a mutex. Bounds:
// kWaitingMax tasks wait, their answers as Bounds says. The thread starts with the first task.
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
  /// Gives up the task under way.
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  /// False: too many tasks wait.
  bool submit(Task task);
  std::optional<Done> poll();
  /// Drops all tasks and answers.
  void drop_all();
  /// Whether a task was submitted whose answer was neither polled nor dropped.
  bool works() const;
  /// Readable while there is an answer; -1 if the system gives no descriptor.
  int descriptor() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::lines
