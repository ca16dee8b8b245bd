// What the network cards of a job say of it: activity, steps, slow-down, who stopped first, errors.
//
// Place in the flow: a JobView's agents in, Nics out; a source of clues, the report's notices and
// the interface read it. Pure. Counters see activity to a tenth of a second, and no more: which
// transfer is slow, or who is late within a step, they do not tell. Cards of nodes that no log of
// the job names are left out. A card of which nothing was measured lately is unknown, not silent.
// Cost: periods are taken from at most kPeriodsOf cards, evenly chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/numbers/nics.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job
namespace l4::cards {
struct NicHistory;
}  // namespace l4::cards

namespace l4::detect::nics {

inline constexpr std::size_t kPeriodsOf = 16;

enum class Activity : std::uint8_t {
  idle,     ///< carries nothing of the job
  active,   ///< as it should be
  silent,   ///< longer than the deadline without data
  unknown,  ///< nothing was measured lately
};
const char* name(Activity activity);

/// A counter that rose while the job ran.
struct Rise {
  std::string counter;
  bool fault = false;  ///< of the link or the card; else congestion
  std::uint64_t rise = 0;
  TimeMs first, last;
};

struct Nic {
  const cards::NicHistory* history = nullptr;
  std::uint32_t node = 0;  ///< JobView::nodes
  Activity activity = Activity::idle;
  std::optional<TimeMs> known_until, last_active, last_sent;
  std::optional<double> period_s;     ///< of the cards of which it was taken
  double bytes_per_s = 0;             ///< median of its busy stretches of ten seconds
  std::optional<double> recent_part;  ///< of that, in the last stretches before it stopped
  std::vector<Rise> rises;
  std::vector<Rank>
      ranks;  ///< that use it, as far as known: nearest by PCI, or the node's only one
};

struct Nics {
  std::vector<Nic> nics;                            ///< by node and name
  std::optional<double> period_s, period_before_s;  ///< lately, and before that
  Millis deadline{0};                               ///< longer without data is silence
  bool silent = false;                              ///< all cards that carried the job
  std::optional<TimeMs> silent_since;
  /// Indices into `nics`: stopped sending first, if some did.
  std::vector<std::uint32_t> first;
  std::optional<Millis>
      lead;  ///< before the next; null: `first` went out of sight before all stopped
  bool slowed = false;
  double slow_ratio = 1;  ///< time of a step now to before, from bytes a second
};

/// As in force: aggregator/numbers/nics.h says what each number means.
struct Options {
  std::size_t window_s = numbers::nics().window_s;
  double slow_min = numbers::nics().slow_min;
  Millis same_time = numbers::nics().same_time;
  Millis lead_min = numbers::nics().lead_min;
  Millis unseen_within = numbers::nics().unseen_within;
  double first_part_max = numbers::nics().first_part_max;
};

Nics find_nics(const job::JobView& view, const Options& options = {});

}  // namespace l4::detect::nics
