// What the network shows of one job, seen from outside, as plain facts.
//
// Place in the flow: a source of network facts (flow records; collect/network_facts.h) makes one
// Network for each job that it knows, diagnose::Options hands it over, network/bearing.h says what
// it means for the logs. Nothing here knows how it was measured. Times are those of the exporters,
// in milliseconds since 1970; lengths are milliseconds. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace l4::detect::network {

enum class Trouble : std::uint8_t {
  slow_server,  ///< one server is late, step after step
  imbalance,    ///< another server is late in each step
  slow_link,    ///< transfers of one card are slow
  slow_switch,  ///< transfers through one switch are slow
  pause,        ///< one server stood still within a step
  data_stall,   ///< a step began late
  hang,         ///< the job waits for someone who does not come
  crash,        ///< all transfers were torn at once
  stopped,      ///< the job is silent, and no more is known
};

/// Nothing is transferred any more.
constexpr bool is_stop(Trouble trouble) {
  return trouble >= Trouble::hang;
}
/// Steps are long for a reason that lasts.
constexpr bool is_lasting(Trouble trouble) {
  return trouble <= Trouble::slow_switch;
}
/// "slow_link"
std::string_view name(Trouble trouble);
/// "a slow link"
std::string_view text(Trouble trouble);

struct Finding {
  Trouble trouble = Trouble::stopped;
  TimeMs since{};                    ///< begin of the first step concerned, or last sign of life
  TimeMs told{};                     ///< when it could be told first
  std::vector<std::string> places;   ///< servers, cards or switches; the first is the likeliest
  std::vector<std::string> servers;  ///< those of the places that are servers or their cards
  bool ambiguous = false;            ///< several places explain it equally well
  double factor = 1;                 ///< of the step, or of the transfer
  unsigned steps = 0;                ///< concerned so far; 0: told by rates, no steps are known
  bool open = false;                 ///< it has not ended
  bool in_step = false;              ///< of a stop: it came within a step, so nobody ended well
};

/// " at node-3" or " at node-3 or node-4"; of more places than a few the number. Empty where nobody
/// knows.
std::string where(const Finding& finding);

/// "3 steps, 1.30 times as long as usual", or of rates alone "transfers 20.0 times as slow as
/// usual".
std::string extent(const Finding& finding);

/// It calls for an incident: the job stands still, or is slow for a reason that lasts. Single slow
/// steps do not, nor does a silence that began between two steps, since the job may have ended.
bool is_failure(const Finding& finding);

struct Server {
  std::string name;
  std::vector<std::string> addresses;  ///< of its cards, as text
  std::optional<TimeMs> last;          ///< last record of any size
};

struct Network {
  std::string source = "flows";  ///< how it was measured
  std::string job;               ///< the name that the source gave the job
  TimeMs now{};                  ///< until when the source has looked
  std::optional<TimeMs> last;    ///< last transfer of training
  std::optional<TimeMs> step;    ///< end of the last whole step
  std::uint64_t steps = 0;       ///< whole steps that were seen
  Millis period{0};              ///< typical step; 0: not known
  Millis deadline{0};            ///< silence that is longer is no pause
  std::optional<TimeMs> stored;  ///< last write to storage
  std::vector<Server> servers;
  std::vector<Finding> findings;  ///< oldest first
};

/// The part of a node's name that means the machine: up to the first dot, or all of an address.
std::string_view host(std::string_view name);

/// The name of a node, of a host or an address, means this server: equal, or equal up to the first
/// dot where either is a name with a domain.
bool is_server(const Server& server, std::string_view node);

}  // namespace l4::detect::network
