#include "aggregator/detect/nics/nics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "aggregator/detect/nics/course.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/nics.h"

namespace l4::detect::nics {
namespace {

double median(std::vector<double> values) {
  return job::upper_median(values);
}

/// The node that the card belongs to: by its name, else the only one of the agent's logs.
std::optional<std::uint32_t> node_of(const job::JobView& view, const job::AgentSlice& agent,
                                     const wire::NicDefinition& facts) {
  for (std::uint32_t node = 0; node < view.nodes.size(); ++node)
    if (view.nodes[node].name == facts.node) return node;
  std::set<std::uint32_t> nodes;
  for (const job::StreamView& stream : view.streams)
    if (stream.agent == &agent) nodes.insert(stream.node);
  return nodes.size() == 1 ? std::optional(*nodes.begin()) : std::nullopt;
}

/// Ranks on the node that use the card: those whose lines name it, or whose GPUs are nearest; if
/// nothing is known, all that the node has where it has no other card.
std::vector<Rank> ranks_of(const job::JobView& view, const Nic& nic, bool only_card) {
  std::vector<Rank> ranks;
  const auto& near = nic.history->facts.local_ranks;
  const auto& named = nic.history->facts.ranks;
  for (const std::uint32_t index : view.nodes[nic.node].ranks) {
    const job::RankView& rank = view.ranks[index];
    if (rank.launcher || !rank.rank) continue;
    const bool is_near = rank.local_rank && std::ranges::find(near, *rank.local_rank) != near.end();
    const bool is_named = std::ranges::find(named, rank.rank->value()) != named.end();
    if (is_near || is_named || only_card) ranks.push_back(*rank.rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::vector<Rise> rises_of(const cards::NicHistory& nic, TimeMs from) {
  std::map<std::string, Rise> found;
  for (const wire::NicRise& one : nic.rises) {
    if (one.at < from) continue;
    const auto [at, created] = found.try_emplace(one.counter);
    Rise& rise = at->second;
    if (created) rise = {one.counter, one.fault, 0, one.at, one.at};
    rise.rise += one.rise;
    rise.last = std::max(rise.last, one.at);
  }
  std::vector<Rise> rises;
  rises.reserve(found.size());
  for (auto& [name, rise] : found) rises.push_back(std::move(rise));
  std::ranges::stable_sort(rises, std::greater<>{}, &Rise::fault);
  return rises;
}

void note_times(Nic& nic) {
  const auto& seconds = nic.history->seconds;
  nic.known_until = seconds.back().begin() + Millis{1000};
  for (auto at = seconds.rbegin(); at != seconds.rend(); ++at) {
    const auto end = [&](std::uint16_t ms) { return at->begin() + Millis{ms}; };
    if (!nic.last_active && at->last != wire::NicSecond::kNone) nic.last_active = end(at->last);
    if (!nic.last_sent && at->last_sent != wire::NicSecond::kNone)
      nic.last_sent = end(at->last_sent);
    if (nic.last_active && nic.last_sent) return;
  }
}

/// Tenths up to the end of the last activity.
std::span<const float> until_active(const Course& course, const Nic& nic) {
  const std::span<const float> all(course.tenths);
  if (!nic.last_active || *nic.last_active <= course.begin) return {};
  const auto size = static_cast<std::size_t>((*nic.last_active - course.begin).count() + 99) / 100;
  return all.first(std::min(size, all.size()));
}

std::size_t busy_in(std::span<const float> tenths) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tenths, [](float tenth) { return tenth > 0; }));
}

/// The longest time without data between two activities; unknown tenths end a gap.
Millis longest_gap(std::span<const float> tenths) {
  std::int64_t longest = 0, gap = 0;
  bool begun = false;
  for (const float tenth : tenths) {
    if (tenth == 0) {
      gap += begun ? 1 : 0;
      continue;
    }
    begun = tenth > 0;
    longest = std::max(longest, std::exchange(gap, 0));
  }
  return Millis{longest * 100};
}

/// Bytes a second in stretches of ten seconds, oldest first, ending at the last activity.
std::vector<double> stretches(std::span<const float> tenths) {
  std::vector<double> rates;
  for (std::size_t end = tenths.size(); end >= numbers::nics().stretch;
       end -= numbers::nics().stretch) {
    double sum = 0, known = 0;
    for (const float tenth : tenths.subspan(end - numbers::nics().stretch, numbers::nics().stretch))
      if (tenth >= 0) sum += double{tenth}, ++known;
    if (known > numbers::nics().stretch / 2.0) rates.push_back(sum / known * wire::Tenths::kCount);
  }
  std::ranges::reverse(rates);
  return rates;
}

void note_rates(Nic& nic, std::span<const float> tenths) {
  const std::vector<double> rates = stretches(tenths);
  if (rates.empty()) return;
  if (rates.size() < numbers::nics().recent_stretches + numbers::nics().before_stretches) {
    nic.bytes_per_s = median(rates);
    return;
  }
  const auto border = rates.end() - static_cast<std::ptrdiff_t>(numbers::nics().recent_stretches);
  nic.bytes_per_s = median({rates.begin(), border});
  // Few steps fit into a stretch, so the newest are taken together.
  const double recent = std::accumulate(border, rates.end(), 0.0) /
                        static_cast<double>(numbers::nics().recent_stretches);
  if (nic.bytes_per_s > 0) nic.recent_part = recent / nic.bytes_per_s;
}

/// Periods of up to kPeriodsOf cards, lately and before that.
void note_periods(Nics& found, const std::vector<Course>& courses) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < found.nics.size(); ++i)
    if (busy_in(until_active(courses[i], found.nics[i])) >= numbers::nics().busy_least)
      chosen.push_back(i);
  const std::size_t every = (chosen.size() + kPeriodsOf - 1) / kPeriodsOf;
  std::vector<double> now, before;
  for (std::size_t i = 0; i < chosen.size(); i += std::max<std::size_t>(every, 1)) {
    const auto tenths = until_active(courses[chosen[i]], found.nics[chosen[i]]);
    const auto period = period_of(tenths);
    if (!period) continue;
    found.nics[chosen[i]].period_s = period->seconds;
    now.push_back(period->seconds);
    const auto lately = static_cast<std::size_t>(
        std::max(numbers::nics().lately_least,
                 numbers::nics().lately_periods * wire::Tenths::kCount * period->seconds));
    if (tenths.size() < 2 * lately) continue;
    if (const auto former = period_of(tenths.first(tenths.size() - lately)))
      before.push_back(former->seconds);
  }
  if (!now.empty()) found.period_s = median(now);
  if (!before.empty()) found.period_before_s = median(before);
}

/// The longest pause of any card, the end of what is known, and the latest activity.
struct Bounds {
  Millis gap{0};
  TimeMs now;
  std::optional<TimeMs> latest;
};

Bounds bounds_of(const Nics& found, const std::vector<Course>& courses) {
  Bounds bounds;
  for (std::size_t i = 0; i < found.nics.size(); ++i) {
    const Nic& nic = found.nics[i];
    bounds.gap = std::max(bounds.gap, longest_gap(until_active(courses[i], nic)));
    bounds.now = std::max(bounds.now, *nic.known_until);
    if (nic.last_active)
      bounds.latest = std::max(bounds.latest.value_or(*nic.last_active), *nic.last_active);
  }
  return bounds;
}

Activity activity_of(const Nic& nic, const Course& course, const Bounds& bounds, Millis deadline) {
  const auto tenths = until_active(course, nic);
  const bool stale = bounds.now - *nic.known_until > numbers::nics().stale;
  // A card that was last active long before the others carries nothing of the job.
  const bool worked =
      nic.last_active &&
      std::min(*bounds.latest, *nic.known_until) - *nic.last_active <= 2 * deadline &&
      busy_in(tenths.last(std::min<std::size_t>(tenths.size(), numbers::nics().busy_within))) >=
          numbers::nics().busy_least;
  if (!worked) return Activity::idle;
  if (*nic.known_until - *nic.last_active > deadline) return Activity::silent;
  return stale ? Activity::unknown : Activity::active;
}

/// A rank that stopped neither sends nor asks for data; its neighbour in a ring does not send to
/// it, but still receives. Halfway between the ends of sending and of all activity, the one that
/// stopped comes first.
TimeMs sent_until(const Nic& nic) {
  const TimeMs sent = nic.last_sent.value_or(*nic.last_active);
  return sent + (*nic.last_active - sent) / 2;
}

/// Cards that stopped sending well before the others, if they are few.
void find_first(Nics& found, std::vector<std::uint32_t> stopped, const Options& options) {
  const auto sent = [&](std::uint32_t i) { return sent_until(found.nics[i]); };
  std::ranges::sort(stopped, {}, sent);
  const TimeMs earliest = sent(stopped.front());
  const auto rest = std::ranges::find_if(
      stopped, [&](std::uint32_t i) { return sent(i) - earliest > options.same_time; });
  if (rest == stopped.end()) return;
  const auto many = static_cast<double>(rest - stopped.begin());
  const bool few =
      many <= options.first_part_max * static_cast<double>(stopped.size()) || stopped.size() == 2;
  const Millis lead = sent(*rest) - earliest;
  if (!few || lead < options.lead_min) return;
  found.first.assign(stopped.begin(), rest);
  std::ranges::sort(found.first);
  found.lead = lead;
}

/// Cards of which nothing is known from before the others stopped: their node is cut off or lost.
void find_unseen(Nics& found, const std::vector<std::uint32_t>& stopped, const Options& options) {
  TimeMs earliest = sent_until(found.nics[stopped.front()]);
  for (const std::uint32_t i : stopped) earliest = std::min(earliest, sent_until(found.nics[i]));
  std::vector<std::uint32_t> unseen;
  for (std::uint32_t i = 0; i < found.nics.size(); ++i)
    if (found.nics[i].activity == Activity::unknown) {
      if (*found.nics[i].known_until > earliest + options.unseen_within) return;
      unseen.push_back(i);
    }
  const auto all = static_cast<double>(stopped.size() + unseen.size());
  if (static_cast<double>(unseen.size()) <= options.first_part_max * all)
    found.first = std::move(unseen);
}

void judge_silence(Nics& found, const std::vector<Course>& courses, const Options& options) {
  const Bounds bounds = bounds_of(found, courses);
  const Millis least =
      found.period_s ? numbers::nics().deadline_least : numbers::nics().no_period_least;
  const Millis steps{
      std::llround(1000 * numbers::nics().deadline_periods * found.period_s.value_or(0))};
  found.deadline = std::max({least, steps, 2 * bounds.gap});
  std::vector<std::uint32_t> stopped;
  bool goes_on = false, unseen = false;
  for (std::uint32_t i = 0; i < found.nics.size(); ++i) {
    Nic& nic = found.nics[i];
    nic.activity = activity_of(nic, courses[i], bounds, found.deadline);
    goes_on |= nic.activity == Activity::active;
    unseen |= nic.activity == Activity::unknown;
    if (nic.activity == Activity::silent) stopped.push_back(i);
  }
  found.silent = !goes_on && !stopped.empty();
  if (!found.silent) return;
  found.silent_since = bounds.latest;
  if (unseen)
    find_unseen(found, stopped, options);
  else
    find_first(found, std::move(stopped), options);
}

/// Bytes of a step stay the same, so fewer bytes a second mean longer steps.
void judge_pace(Nics& found, const Options& options) {
  std::vector<double> ratios;
  for (const Nic& nic : found.nics)
    if (nic.recent_part && *nic.recent_part > 0) ratios.push_back(1 / *nic.recent_part);
  if (ratios.empty()) return;
  found.slow_ratio = median(ratios);
  found.slowed = found.slow_ratio >= options.slow_min;
}

void add_cards(const job::JobView& view, TimeMs from, Nics& found) {
  for (const auto& [agent_name, agent] : view.state->agents())
    for (const auto& [nic_name, history] : agent.nics.nics()) {
      if (history.seconds.empty()) continue;
      const auto node = node_of(view, agent, history.facts);
      if (!node) continue;
      Nic nic;
      nic.history = &history;
      nic.node = *node;
      nic.rises = rises_of(history, from);
      note_times(nic);
      if (*nic.known_until >= from) found.nics.push_back(std::move(nic));
    }
  std::ranges::sort(found.nics, {},
                    [](const Nic& nic) { return std::pair(nic.node, nic.history->facts.name); });
}

}  // namespace

const char* name(Activity activity) {
  static constexpr const char* kNames[] = {"idle", "active", "silent", "unknown"};
  return kNames[static_cast<std::size_t>(activity)];
}

Nics find_nics(const job::JobView& view, const Options& options) {
  Nics found;
  const TimeMs from = view.begin ? *view.begin - numbers::nics().before_logs : TimeMs{};
  add_cards(view, from, found);
  if (found.nics.empty()) return found;
  std::vector<Course> courses;
  courses.reserve(found.nics.size());
  for (Nic& nic : found.nics) {
    courses.push_back(course_of(*nic.history, from, options.window_s));
    note_rates(nic, until_active(courses.back(), nic));
  }
  note_periods(found, courses);
  judge_silence(found, courses, options);
  judge_pace(found, options);
  std::map<std::uint32_t, std::size_t> cards;
  for (const Nic& nic : found.nics) ++cards[nic.node];
  for (Nic& nic : found.nics) nic.ranks = ranks_of(view, nic, cards[nic.node] == 1);
  return found;
}

}  // namespace l4::detect::nics
