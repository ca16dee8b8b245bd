// Clues: reasons to suspect a rank, a node or an outsider, as typed facts.
//
// Place in the flow: the functions of clue_sources.h make them of the findings, one for each source
// of clues; scale.h says what each is worth; diagnose/suspicion.h adds them up; sentence.h says
// them. No sentence is ever read again. Plain values, owned by the one diagnosis that made them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/time.h"

namespace l4::diagnose::clues {

/// The order is that in which reasons are listed.
enum class ClueKind : std::uint8_t {
  process_stopped,   ///< by a signal
  process_traced,    ///< by a debugger
  process_waits,     ///< for a device or a file system
  process_gone,      ///< ended badly, first
  process_followed,  ///< ended badly after others, or was told to
  agent_lost,        ///< with the node, and the job has not gone on
  cause,             ///< prints a line that nothing else explains
  accuser,           ///< prints a fatal line about a peer
  echo,              ///< prints a line that follows from another failure
  blamed,            ///< a launcher, an operator or a driver names it
  named_by_peers,    ///< a peer that waits or has lost a connection names it
  odd_iteration,     ///< its last iteration is not what it and its peers print
  differs,           ///< from its past and its peers, while the job runs
  late_start,        ///< began long after its peers
  slow_phase,        ///< a phase takes longer for good
  held_up,           ///< held the others up in an iteration
  turned,            ///< prints its lines in another order
  first,             ///< was the first to fail
  first_to_echo,     ///< was the first to complain about others
  silent,            ///< stopped without a word while most others complain
  silent_launcher,   ///< the same of a launcher among launchers
  silent_first,      ///< fell silent before all others
  habit_stopped,     ///< no longer prints what its peers still print during a stall
  behind,            ///< did not complete an iteration that others did
  logs_stopped,      ///< all logs of its node stop without a word
  dragged,           ///< a timer of its own grew
  isolated,          ///< the forest sets its node apart by the lines of the failure
  nic_errors,        ///< a network card of its node counts errors near the trouble
  nic_silent_first,  ///< its node's cards were the first to send no more
  network_first,     ///< by the network its server stopped first, or is missing
  network_slow,      ///< by the network its server, card or switch is slow
  absent,            ///< left no log, as if it was never started
  as_published,      ///< the paper's own score of its node (--scoring paper)
};
inline constexpr std::size_t kClueKinds = static_cast<std::size_t>(ClueKind::as_published) + 1;
/// All but the last, which is a score itself, have a weight.
inline constexpr std::size_t kWeighedKinds = kClueKinds - 1;

std::string_view name(ClueKind kind);  ///< as in JSON and in config/scoring.toml

enum class FactKind : std::uint8_t {
  event,      ///< id of a template
  text,       ///< of a template
  exit,       ///< how a process ended: "signal 9 (SIGKILL)"
  signal,     ///< its number
  since,      ///< a time, RFC 3339
  iteration,  ///< as printed
  timer,      ///< name of a timer or a phase
  nic,        ///< name of a network card
  counter,    ///< of its errors
  peer,       ///< name of the node that says it
  count,      ///< of ranks or nodes
  of,         ///< of how many
  ms,         ///< a span
  usual_ms,   ///< the same span before
  score,      ///< of a detector
  trouble,    ///< what the network shows: "slow_link"
  place,      ///< a server, card or switch, as the network calls it
};

std::string_view name(FactKind kind);

struct Fact {
  FactKind kind = FactKind::event;
  std::variant<std::string, double, TimeMs> value = {};
};
using Facts = std::vector<Fact>;

/// The value as in JSON: a number without needless digits, a time by RFC 3339.
std::string text(const Fact& fact);

/// The value of the first fact of the kind, as text or as number; empty (0) if there is none.
std::string text_of(const Facts& facts, FactKind kind);
double number_of(const Facts& facts, FactKind kind);

enum class Whose : std::uint8_t {
  rank,      ///< JobView::ranks
  node,      ///< JobView::nodes: of the rank on it that is most suspect by all else
  outsider,  ///< Hints::outsiders
};

struct Clue {
  ClueKind kind = ClueKind::cause;
  Whose whose = Whose::rank;
  std::uint32_t index = 0;
  double strength = 0;                      ///< times the kind's weight is what it adds
  bool told = true;                         ///< worth a sentence
  std::optional<std::uint32_t> event = {};  ///< JobView::events
  Facts facts = {};
};

}  // namespace l4::diagnose::clues
