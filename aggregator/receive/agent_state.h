// One agent in AgentServer, connected or not. Private to this room.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "aggregator/receive/agent_server.h"
#include "aggregator/receive/position_table.h"

namespace l4::receive {

/// A batch between its arrival and its acknowledgement.
struct InFlight {
  Ticket ticket = 0;  ///< 0: the ledger need not store it
  std::uint64_t session = 0, number = 0, incarnation = 0, sequence = 0;
  std::vector<wire::Coverage> coverage;
  bool done = false;
};

/// An incarnation whose name another incarnation uses now.
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
  std::uint64_t sequence_applied = 0, sequence_committed = 0;  ///< numbers in `incarnation`
  std::uint64_t received = 0, committed = 0;                   ///< last batches of this session
  std::deque<InFlight> in_flight;
  bool open = false;         ///< WELCOME was sent
  bool welcome_due = false;  ///< WELCOME is sent when nothing is in flight any more
  bool gap_wanted = false;   ///< WANT was sent for the missing batch

  bool behind = false;  ///< its last heartbeat held more than a window of batches

  wire::Instant heard;
  Millis unread_since{-1};     ///< time since when the agent reads no answers; -1 if it reads them
  bool spoke = false;          ///< it has sent a message since its WELCOME
  std::deque<Former> formers;  ///< newest last
  std::string contender;       ///< address of another agent that asked for the name
  std::optional<Millis> name_twice_at{};  ///< when `name_twice` was last published
  wire::Heartbeat last_beat;
};

}  // namespace l4::receive
