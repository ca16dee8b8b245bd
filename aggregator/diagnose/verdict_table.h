// The table from which the state of a job is read: which facts decide for which state.
//
// Place in the flow: verdict.cc finds the facts, the first row whose conditions hold is the
// verdict. Rows stand in order of strength: what somebody says of the end, then failures, then what
// the logs show of an end without a word, then silence. Pure; tests read the table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "aggregator/diagnose/clues/grounds.h"
#include "common/base/vocabulary.h"

namespace l4::diagnose {

enum class Fact : std::uint8_t {
  said_well,    ///< most ranks, or the launcher, say that they ended well, and nothing fails behind
  left_well,    ///< every process ended with exit code 0
  closed_well,  ///< a batch system, a launcher or a tracker says that it ended well
  complete,     ///< the counters have reached their totals
  cut_short,    ///< a counter has not reached its total
  kept,         ///< the result was saved, or totals of the run were printed
  ended,        ///< something shows that the processes have ended, and not how
  tidied,       ///< only the programs themselves show it, which close what they used
  gone,         ///< somebody cleans up behind a process, or it was asked to end
  failed,       ///< a process or a line says that the job cannot go on
  stopped,      ///< somebody, or a limit, stopped it, and nothing failed before
  untrained,    ///< nothing shows that training had begun
  unmarked,     ///< no iteration was marked at all
  waited,       ///< the only evidence is that ranks waited for others
  stood,        ///< a long silence came before the failure
  untimed,      ///< the logs do not tell how long it was
  fatal,        ///< a line or an exit ends a process
  peer_lost,    ///< its last lines say that a peer is gone
  opening,      ///< the logs show how it started
  starting,     ///< they do not, but what failed belongs to a start
  lost,         ///< nodes stopped without a word
  slowed,       ///< iterations take longer
  dragged,      ///< the same, by warnings alone
  overdue,      ///< no progress for longer than ever
  suspected,    ///< of a running job, and not yet confirmed
  vacant,       ///< no process is left
  blind,        ///< the time at which the logs were collected is not known
  short_log,    ///< a few lines, and no iteration
  live,         ///< the job is watched
  torn,         ///< the network: all transfers ended at once
  waits,        ///< the network: nothing is transferred any more, as when ranks wait
};

using Facts = std::uint32_t;  ///< a bit for each Fact

template <class... T>
constexpr Facts facts(T... each) {
  return ((Facts{1} << static_cast<unsigned>(each)) | ... | Facts{0});
}

struct VerdictRow {
  Facts all = 0;   ///< these hold
  Facts none = 0;  ///< these do not
  State state = State::unknown;
  clues::GroundKind ground = {};  ///< what decided, for the confidence
  std::string_view because;       ///< ends the sentence of a state that is not a failure

  bool holds(Facts known) const { return (known & all) == all && (known & none) == 0; }
};

/// The last row holds always.
std::span<const VerdictRow> verdict_rows();

const VerdictRow& row_of(Facts known);

}  // namespace l4::diagnose
