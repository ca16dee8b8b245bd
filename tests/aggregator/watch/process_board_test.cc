#include "aggregator/watch/process_board.h"

#include <doctest/doctest.h>

#include <vector>

namespace l4::watch {
namespace {

using wire::Exit;
using wire::ProcessFact;
using wire::ProcessState;

TimeMs at(std::int64_t ms) {
  return TimeMs{Millis{1'000'000 + ms}};
}

constexpr Exit kUnseen{};
constexpr Exit kEndedWell{Exit::Kind::code, 0, Exit::Seen::zombie};
constexpr Exit kFailed{Exit::Kind::code, 1, Exit::Seen::zombie};

struct Board {
  explicit Board(std::int32_t ranks) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) tell(rank, ProcessState::sleeping, 0);
  }
  bool tell(std::int32_t rank, ProcessState state, std::int64_t ms, Exit exit = {},
            std::int32_t attempt = 0) {
    ProcessFact fact;
    fact.boot_id = "boot";
    fact.pid = wire::Pid{rank + 100 * attempt};
    fact.part = wire::Part::rank;
    fact.rank = Rank{rank};
    fact.node = "node";
    fact.attempt = attempt;
    fact.state = state;
    fact.exit = exit;
    return board.applied("agent", {fact}, at(ms));
  }
  /// Causes that are due at `ms`.
  std::vector<Cause> due(std::int64_t ms) {
    std::vector<Cause> causes;
    for (const Trigger& trigger : board.due(at(ms))) causes.push_back(trigger.cause);
    return causes;
  }
  ProcessBoard board{Millis{30'000}};
};

using Causes = std::vector<Cause>;

}  // namespace

TEST_CASE("process board: an exit code counts at once, an unseen end after two seconds") {
  Board board(3);
  board.tell(0, ProcessState::gone, 100, kFailed);
  CHECK(board.due(100) == Causes{Cause::process_left});
  board.tell(1, ProcessState::gone, 200, kUnseen);
  CHECK(board.due(2199).empty());
  CHECK(board.board.next() == at(2200));
  CHECK(board.due(2200) == Causes{Cause::process_left});
  CHECK_FALSE(board.board.next());
}

TEST_CASE("process board, healthy: all leave unseen within a second") {
  Board board(3);
  for (int rank = 0; rank < 3; ++rank) board.tell(rank, ProcessState::gone, 300 * rank, kUnseen);
  CHECK(board.due(10'000) == Causes{Cause::ended});
}

TEST_CASE("process board: one who left well while others go on counts after a minute") {
  Board board(2);
  board.tell(0, ProcessState::gone, 0, kEndedWell);
  CHECK(board.due(59'000).empty());
  CHECK(board.due(60'000) == Causes{Cause::process_left});
}

TEST_CASE("process board: stopped after three seconds; healthy: for two") {
  Board board(2);
  board.tell(0, ProcessState::stopped, 0);
  board.tell(0, ProcessState::sleeping, 2000);
  CHECK(board.due(5000).empty());
  board.tell(0, ProcessState::stopped, 10'000);
  CHECK(board.due(13'000) == Causes{Cause::process_stopped});
  CHECK(board.board.any_stopped());
  board.tell(0, ProcessState::sleeping, 14'000);
  CHECK_FALSE(board.board.any_stopped());
}

TEST_CASE("process board: a debugger may look for half a minute, a device may take as long") {
  Board board(2);
  board.tell(0, ProcessState::traced, 0);
  board.tell(1, ProcessState::uninterruptible, 0);
  CHECK(board.due(29'000).empty());
  CHECK(board.due(30'000) == Causes{Cause::process_stopped, Cause::process_stopped});
}

TEST_CASE("process board: what belongs to an older attempt does not count") {
  Board board(2);
  board.tell(0, ProcessState::stopped, 500);
  CHECK(board.tell(0, ProcessState::sleeping, 1000, {}, 1));
  CHECK_FALSE(board.tell(1, ProcessState::sleeping, 1100, {}, 1));
  board.tell(1, ProcessState::gone, 1200, kFailed, 0);
  CHECK(board.due(100'000).empty());
  CHECK(board.board.alive() == 2);
}

TEST_CASE("process board: agents number attempts each for itself") {
  Board board(1);
  ProcessFact other;
  other.boot_id = "another boot";
  other.part = wire::Part::rank;
  other.rank = Rank{1};
  other.state = ProcessState::sleeping;
  other.attempt = 7;
  CHECK_FALSE(board.board.applied("another", {other}, at(0)));
  board.tell(0, ProcessState::gone, 100, kFailed);
  CHECK(board.due(100) == Causes{Cause::process_left});
  CHECK(board.board.alive() == 1);
}

}  // namespace l4::watch
