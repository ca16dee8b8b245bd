#include "aggregator/diagnose/verdict_table.h"

#include <algorithm>
#include <array>

namespace l4::diagnose {
namespace {

using enum Fact;

constexpr double kFatal = 0.95, kNotFatal = 0.75;
constexpr double kGuess = 0.6 * kFatal;  // the logs do not show how the job began
constexpr double kWildGuess = 0.6 * kNotFatal;

constexpr std::array kRows{
    // Somebody says that it ended well.
    VerdictRow{facts(said_well, slowed), facts(), State::slow, .8, 0, {}},
    VerdictRow{facts(left_well, slowed), facts(), State::slow, .8, 0, {}},
    VerdictRow{facts(said_well), facts(), State::finished, .9, 0, {}},
    VerdictRow{facts(left_well), facts(), State::finished, .9, 0, {}},

    // It failed: before its first iteration, or in training.
    VerdictRow{
        facts(failed, untrained, waited), facts(stopped), State::hung, kGuess, kWildGuess, {}},
    VerdictRow{facts(failed, untrained, stopped), facts(), State::crashed, kFatal, kNotFatal, {}},
    VerdictRow{facts(failed, untrained, opening),
               facts(),
               State::launch_failed,
               kFatal * .95,
               kNotFatal * .95,
               {}},
    VerdictRow{facts(failed, untrained, stood), facts(), State::hung, kGuess, kWildGuess, {}},
    VerdictRow{
        facts(failed, untrained, starting), facts(), State::launch_failed, kGuess, kWildGuess, {}},
    VerdictRow{facts(failed, untrained), facts(), State::crashed, kGuess, kWildGuess, {}},
    VerdictRow{facts(failed, lost), facts(stopped), State::node_lost, .8, 0, {}},
    VerdictRow{facts(failed, stood), facts(), State::hung, .85, 0, {}},
    VerdictRow{facts(failed, waited, untimed), facts(stopped), State::hung, .8, 0, {}},
    VerdictRow{facts(failed, waited), facts(stopped, fatal), State::hung, .8, 0, {}},
    VerdictRow{facts(failed), facts(), State::crashed, kFatal, kNotFatal, {}},

    // Nothing failed, and the logs show an end.
    VerdictRow{facts(closed_well, slowed), facts(), State::slow, .8, 0, {}},
    VerdictRow{facts(closed_well), facts(), State::finished, .95, 0,
               "its launcher or its batch system says so"},
    VerdictRow{facts(complete, slowed), facts(), State::slow, .8, 0, {}},
    VerdictRow{facts(complete, ended), facts(), State::finished, .9, 0,
               "all its iterations were completed, and its processes have ended"},
    VerdictRow{facts(complete, kept), facts(), State::finished, .9, 0,
               "all its iterations were completed, and its result was kept"},
    VerdictRow{facts(kept, ended), facts(gone), State::finished, .8, 0,
               "its result was kept, and its processes have ended"},
    VerdictRow{facts(complete), facts(live, overdue), State::finished, .75, 0,
               "all its iterations were completed"},
    VerdictRow{facts(kept), facts(gone, live, overdue), State::finished, .65, 0,
               "its result was kept"},
    VerdictRow{facts(gone), facts(complete, untrained), State::crashed, .6, 0, {}},
    VerdictRow{facts(ended, cut_short), facts(untrained, kept), State::crashed, .6, 0, {}},
    VerdictRow{facts(peer_lost), facts(untrained, live), State::crashed, .6, 0, {}},
    VerdictRow{facts(peer_lost, untrained), facts(live), State::crashed, .45, 0, {}},
    VerdictRow{facts(ended), facts(live), State::unknown, .5, 0,
               "its processes have ended, and nothing says how"},

    // Nothing failed, and nothing shows an end.
    VerdictRow{facts(dragged), facts(overdue), State::slow, .6, 0, {}},
    VerdictRow{facts(slowed), facts(overdue), State::slow, .8, 0, {}},
    VerdictRow{facts(overdue, vacant), facts(), State::unknown, .5, 0, {}},
    VerdictRow{facts(overdue, lost), facts(), State::node_lost, .6, 0, {}},
    VerdictRow{facts(overdue, unmarked, suspected), facts(), State::launch_failed, .45, 0, {}},
    VerdictRow{facts(overdue, unmarked), facts(), State::launch_failed, .8, 0, {}},
    VerdictRow{facts(overdue, suspected), facts(), State::hung, .45, 0, {}},
    VerdictRow{facts(overdue), facts(), State::hung, .8, 0, {}},
    VerdictRow{facts(short_log), facts(), State::unknown, .3, 0, {}},
    VerdictRow{facts(blind, unmarked), facts(), State::unknown, .3, 0, {}},
    VerdictRow{
        facts(blind), facts(), State::unknown, .5, 0,
        "they end in training, and nothing says whether it hung there, was ended from outside "
        "or went on"},
    VerdictRow{facts(), facts(), State::healthy, .8, 0, {}},
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
