// The two ends of the live wire: whole messages, both ways, without regard to their content.
//
// Flow: agent/ship <-> ClientPort ~~~ ServerPort <-> aggregator/receive. Implementations:
// common/wire/zmq (CURVE over TCP) and common/wire/simulation (in memory, seeded, with loss). A
// port belongs to one thread; only `wake` may be called from others. Nothing but `wait` waits, and
// a full queue is an answer (`Sent::full`). Messages longer than kWireMessageBytesMax are refused
// at both ends. A message may be lost, also after `Sent::yes`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/wire/limits.h"

namespace l4::wire {

/// Longest message on the live wire, envelope included.
inline constexpr std::size_t kWireMessageBytesMax = 1u << 20;
/// Messages that wait per connection and direction before `Sent::full`.
inline constexpr int kHighWaterMark = 16;

enum class Sent : std::uint8_t { yes, full, gone, too_long };

/// News of the connection itself.
struct LinkNews {
  enum class Kind : std::uint8_t {
    connected,  ///< and authenticated
    lost,
    refused,  ///< the other end refused the connection; `reason` says why, as far as known
  };
  Kind kind = Kind::lost;
  std::string reason;
};

class ClientPort {
 public:
  virtual ~ClientPort() = default;

  /// Begins a new connection; messages under way on a former one are lost. News follow.
  virtual void connect() = 0;
  virtual void disconnect() = 0;
  virtual Sent send(Bytes message) = 0;
  virtual std::optional<Bytes> receive() = 0;
  virtual std::optional<LinkNews> news() = 0;
  /// Waits until `receive` or `news` may have something, `wake` is called, or the time is over.
  virtual void wait(Millis timeout) = 0;
  /// A descriptor for an event loop: once it is readable, call both until they are empty. -1 if
  /// there is none.
  virtual int wait_fd() const = 0;
  /// Makes the present or the next `wait` return at once; for any thread.
  virtual void wake() = 0;
};

/// Identifies one connection of one client; never used again.
using PeerId = std::string;

/// Stands for the node's name if a fleet shares the key: each holder may use any name.
inline constexpr auto kFleetKeyName = "*";

struct Incoming {
  PeerId peer;
  std::string key_name;  ///< owner of the key; kFleetKeyName if it is shared
  std::string address;   ///< without port; empty if unknown
  Bytes message;
};

/// Reasons for refusing an agent or a message; a closed list, one counter each.
enum class Refusal : std::uint8_t {
  no_handshake,       ///< spoke no protocol or another one: scanners, random bytes
  wrong_key,          ///< the key is not in the allow list
  revoked_key,        ///< the key was in the list when the connection was made
  too_long,           ///< the message is longer than the limit
  several_parts,      ///< message in several frames
  malformed,          ///< no control message, or a batch that breaks a rule
  unknown_kind,       ///< a kind of message that this version does not know
  version,            ///< no protocol version in common
  wrong_name,         ///< the agent's name is not that of its key
  name_taken,         ///< the name is in use from another address
  too_many,           ///< more agents than there may be
  never_reads,        ///< the agent does not take answers
  over_window,        ///< more batches under way than allowed
  no_file_descriptor  ///< we have none left for the connection
};
inline constexpr std::size_t kRefusals = 14;
/// "wrong_key": for metrics and logs.
std::string_view to_string(Refusal refusal);

struct Refused {
  Refusal kind = Refusal::malformed;
  std::string address;  ///< empty if unknown: the client was gone at once
  std::string detail;
};

/// A line of a port for the log.
struct PortNotice {
  std::string text;
  bool trouble = false;
};

class ServerPort {
 public:
  virtual ~ServerPort() = default;

  virtual std::optional<Incoming> receive() = 0;
  virtual Sent send(const PeerId& peer, Bytes message) = 0;
  /// Next connection that was turned away before it could say anything.
  virtual std::optional<Refused> refused() = 0;
  virtual void wait(Millis timeout) = 0;
  virtual int wait_fd() const = 0;
  virtual void wake() = 0;
  /// False: the key of this name is revoked, nobody can connect with it any more.
  virtual bool admits(const std::string& /*key_name*/) const { return true; }
};

}  // namespace l4::wire
