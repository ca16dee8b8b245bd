#include "aggregator/diagnose/verdict_table.h"

#include <algorithm>
#include <array>

namespace l4::diagnose {
namespace {

using enum Fact;
using enum clues::GroundKind;

constexpr std::array kRows{
    // Somebody says that it ended well.
    VerdictRow{facts(said_well, slowed), facts(), State::slow, state_slowed, {}},
    VerdictRow{facts(left_well, slowed), facts(), State::slow, state_slowed, {}},
    VerdictRow{facts(said_well), facts(), State::finished, state_said_well, {}},
    VerdictRow{facts(left_well), facts(), State::finished, state_said_well, {}},

    // It failed: before its first iteration, or in training.
    VerdictRow{
        facts(failed, untrained, waited), facts(stopped), State::hung, state_waited_early, {}},
    VerdictRow{facts(failed, untrained, stopped), facts(), State::crashed, state_stopped_early, {}},
    VerdictRow{
        facts(failed, untrained, opening), facts(), State::launch_failed, state_start_failed, {}},
    VerdictRow{facts(failed, untrained, stood), facts(), State::hung, state_stood_early, {}},
    VerdictRow{
        facts(failed, untrained, starting), facts(), State::launch_failed, state_start_guessed, {}},
    VerdictRow{facts(failed, untrained, lost), facts(stopped), State::node_lost, state_lost, {}},
    VerdictRow{facts(failed, untrained), facts(), State::crashed, state_start_unseen, {}},
    // Who stops a running job may take its nodes away, too; in logs the node was silent before.
    VerdictRow{facts(failed, lost), facts(stopped), State::node_lost, state_lost, {}},
    VerdictRow{facts(failed, lost, stopped), facts(live), State::node_lost, state_lost, {}},
    VerdictRow{facts(failed, stood), facts(), State::hung, state_stood, {}},
    VerdictRow{facts(failed, waited, untimed), facts(stopped), State::hung, state_waited, {}},
    VerdictRow{facts(failed, waited), facts(stopped, fatal), State::hung, state_waited, {}},
    VerdictRow{facts(failed), facts(), State::crashed, state_failed, {}},

    // Nothing failed, and the logs show an end.
    VerdictRow{facts(closed_well, slowed), facts(), State::slow, state_slowed, {}},
    VerdictRow{facts(closed_well), facts(), State::finished, state_ended_well,
               "its launcher or its batch system says so"},
    VerdictRow{facts(complete, slowed), facts(), State::slow, state_slowed, {}},
    VerdictRow{facts(complete, ended), facts(), State::finished, state_ended_well,
               "all its iterations were completed, and its processes have ended"},
    VerdictRow{facts(complete, kept), facts(), State::finished, state_ended_well,
               "all its iterations were completed, and its result was kept"},
    VerdictRow{facts(kept, ended), facts(gone), State::finished, state_ended_well,
               "its result was kept, and its processes have ended"},
    VerdictRow{facts(complete), facts(live, overdue), State::finished, state_ended_well,
               "all its iterations were completed"},
    VerdictRow{facts(kept), facts(gone, live, overdue), State::finished, state_ended_well,
               "its result was kept"},
    VerdictRow{facts(gone), facts(complete, untrained), State::crashed, state_gone, {}},
    VerdictRow{
        facts(ended, cut_short), facts(untrained, kept, tidied), State::crashed, state_gone, {}},
    VerdictRow{facts(peer_lost, lost), facts(untrained, live), State::node_lost, state_lost, {}},
    VerdictRow{facts(peer_lost), facts(untrained, live), State::crashed, state_gone, {}},
    VerdictRow{facts(peer_lost, untrained), facts(live), State::crashed, state_gone, {}},
    VerdictRow{facts(tidied), facts(untrained, cut_short, live), State::finished, state_ended_well,
               "its program ended by itself, and printed no error"},
    VerdictRow{facts(ended), facts(live), State::unknown, state_untold,
               "its processes have ended, and nothing says how"},

    // Nothing failed, and nothing shows an end.
    VerdictRow{facts(dragged), facts(overdue), State::slow, state_dragged, {}},
    VerdictRow{facts(slowed), facts(overdue), State::slow, state_slowed, {}},
    VerdictRow{facts(overdue, vacant), facts(), State::unknown, state_untold, {}},
    VerdictRow{facts(overdue, lost), facts(), State::node_lost, state_silent_lost, {}},
    VerdictRow{facts(overdue, torn), facts(), State::crashed, state_gone, {}},
    VerdictRow{facts(overdue, waits), facts(), State::hung, state_silent, {}},
    VerdictRow{
        facts(overdue, unmarked, suspected), facts(), State::launch_failed, state_suspected, {}},
    VerdictRow{facts(overdue, unmarked), facts(), State::launch_failed, state_silent_start, {}},
    VerdictRow{facts(overdue, suspected), facts(), State::hung, state_suspected, {}},
    VerdictRow{facts(overdue), facts(), State::hung, state_silent, {}},
    VerdictRow{facts(short_log), facts(), State::unknown, state_short_log, {}},
    VerdictRow{facts(blind, unmarked), facts(), State::unknown, state_short_log, {}},
    VerdictRow{
        facts(blind), facts(), State::unknown, state_blind,
        "they end in training, and nothing says whether it hung there, was ended from outside "
        "or went on"},
    VerdictRow{facts(), facts(), State::healthy, state_running, {}},
};

/// An earlier row that holds wherever a later one does would hide it.
consteval bool hides_none() {
  for (std::size_t later = 0; later < kRows.size(); ++later)
    for (std::size_t row = 0; row < later; ++row)
      if ((kRows[row].all & ~kRows[later].all) == 0 && (kRows[row].none & ~kRows[later].none) == 0)
        return false;
  return true;
}
static_assert(hides_none());

}  // namespace

std::span<const VerdictRow> verdict_rows() {
  return kRows;
}

const VerdictRow& row_of(Facts known) {
  return *std::ranges::find_if(kRows, [&](const VerdictRow& row) { return row.holds(known); });
}

}  // namespace l4::diagnose
