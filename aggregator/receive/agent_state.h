// One agent as AgentServer knows it, connected or not. Private to this room.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "aggregator/receive/agent_server.h"
#include "aggregator/receive/position_table.h"

namespace l4::receive {

/// A batch between its arrival and its acknowledgement.
struct InFlight {
  Ticket ticket = 0;  ///< 0: nothing to wait for
  std::uint64_t session = 0, number = 0, incarnation = 0, sequence = 0;
  std::vector<wire::Coverage> coverage;
  bool done = false;
};

/// An incarnation that another one took the name from.
struct Former {
  std::uint64_t incarnation = 0;
  std::optional<Millis> refused{};  ///< when it first asked for the name again
};

struct AgentState {
  static constexpr std::size_t kFormersMax = 4;

  std::string name;
  wire::PeerId peer;  ///< empty if not connected
  std::string address, software, boot_id;
  bool fleet_key = false, loaded = false;
  std::uint16_t version = 0;
  std::uint64_t session = 0, incarnation = 0, features = 0;

  PositionTable positions;
  std::uint64_t sequence_applied = 0, sequence_committed = 0;  ///< of `incarnation`
  std::uint64_t received = 0, committed = 0;                   ///< numbers of this session
  std::deque<InFlight> in_flight;
  bool open = false;         ///< WELCOME was sent
  bool welcome_due = false;  ///< as soon as nothing is in flight any more
  bool gap_told = false;     ///< WANT was sent for the batch that is missing

  bool behind = false;  ///< by what it holds, as it last said

  wire::Instant heard;
  Millis unread_since{-1};                 ///< since when it takes no answers; -1 if it does
  bool spoke = false;                      ///< in this session, since it was welcomed: it lives
  std::deque<Former> formers;              ///< newest last
  std::string contender;                   ///< who asked for its name meanwhile: where from
  std::optional<Millis> told_of_two = {};  ///< when that was last told
  wire::Heartbeat last_beat;
};

}  // namespace l4::receive
