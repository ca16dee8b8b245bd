// The messages of agents and aggregator on the live wire, as values.
//
// Flow: agent/ship and aggregator/receive make and read these; common/wire/codec turns them
// into bytes (schemas/control.capnp). docs/WIRE.md has their order. Bounds stand at the fields; the
// decoder refuses messages that break them. Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/wire/greeting.h"
#include "common/wire/limits.h"

namespace l4::wire {

/// Parts of a batch that an agent leaves out to keep up; each step includes those before.
enum class Shedding : std::uint8_t { nothing, examples, order, parameters, counts };
inline constexpr std::size_t kSheddings = 5;
std::string_view to_string(Shedding shedding);

struct Heartbeat {
  std::uint64_t number = 0;
  TimeMs wall{};
  std::uint64_t batches_sent = 0;  ///< number of the last batch in this session
  bool offset_known = false;
  Millis offset{0};  ///< to add to the agent's clock to get the aggregator's
  Millis delay{0};   ///< round trip by which `offset` was measured
  std::uint64_t batches_held = 0, bytes_held = 0;
  Shedding shedding = Shedding::nothing;
  std::vector<std::uint64_t> released;  ///< keys of files that are gone for good
  std::vector<std::string> hints;       ///< what the agent's sources miss; kHintsMax at most
  bool operator==(const Heartbeat&) const = default;
};

struct HeartbeatReply {
  std::uint64_t number = 0;
  TimeMs received{}, replied{};
  std::uint64_t batches_received = 0, batches_committed = 0;  ///< in this session
  std::uint32_t window = 0;
  bool operator==(const HeartbeatReply&) const = default;
};

/// `number` counts the batches of a session from 1, without gaps. `body` is an encoded Batch; after
/// decoding it points into the message.
struct BatchFrame {
  std::uint64_t number = 0;
  std::span<const std::byte> body;
};

/// All batches of the session up to `number` are committed.
struct Ack {
  std::uint64_t number = 0;
  std::uint32_t window = 0;
  bool operator==(const Ack&) const = default;
};

struct WantedFile {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;
  bool operator==(const WantedFile&) const = default;
};

/// Asks for the batch `number` next. With `files`: the batch was refused, and these offsets are
/// expected.
struct Want {
  std::uint64_t number = 0;
  std::vector<WantedFile> files;
  bool operator==(const Want&) const = default;
};

enum class RefuseReason : std::uint8_t {
  say_hello,  ///< unknown session
  version,
  wrong_name,
  name_taken,
  busy,  ///< too many agents, or not ready; try again later
  malformed,
  too_long,
  stopping,
};

struct Refuse {
  RefuseReason reason = RefuseReason::say_hello;
  std::string text;
  std::uint32_t retry_after_ms = 0;
  std::uint64_t number = 0;  ///< if malformed: the batch that will never be accepted; else 0
  bool operator==(const Refuse&) const = default;
};

struct Bye {
  std::string reason;
  bool operator==(const Bye&) const = default;
};

/// Questions about raw lines and their answers; `topic` says what `body` is.
struct Ask {
  std::uint64_t number = 0;
  std::string topic;
  Bytes body;
  bool operator==(const Ask&) const = default;
};
struct Answer {
  std::uint64_t number = 0;
  std::string topic;
  Bytes body;
  bool last = true;
  bool operator==(const Answer&) const = default;
};

/// A message of a kind that this version does not know: skipped and counted.
struct UnknownControl {
  bool operator==(const UnknownControl&) const = default;
};

using Control = std::variant<UnknownControl, Hello, Welcome, MorePositions, PositionPage, Heartbeat,
                             HeartbeatReply, BatchFrame, Ack, Want, Refuse, Bye, Ask, Answer>;

/// The agent draws `session` for each connection; all messages of the connection carry it.
struct Envelope {
  std::uint64_t session = 0;
  Control message;
};

}  // namespace l4::wire
