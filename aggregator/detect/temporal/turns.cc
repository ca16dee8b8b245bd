#include "aggregator/detect/temporal/turns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "aggregator/detect/temporal/event_numbers.h"
#include "aggregator/job/numbered.h"
#include "aggregator/job/share.h"

namespace l4::detect::temporal {
namespace {

constexpr std::uint16_t kAbsent = 0xffff;

using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< events, the smaller one first

/// The sequences of one stream: where its events stand in them.
class Orders {
 public:
  Orders(const job::StreamView& stream, const job::NumberedRows& rows, EventNumbers& numbers) {
    std::unordered_map<std::uint32_t, std::size_t> known;  // by sequence
    for (std::size_t place = rows.size() - std::min(rows.size(), kRowsMax); place < rows.size();
         ++place) {
      const job::SequenceId id = rows.record(place).sequence;
      if (id == job::SequenceId{0}) continue;
      const auto [at, fresh] = known.try_emplace(id.value(), sequences_.size());
      if (fresh) sequences_.push_back(places_of(stream.agent->sequences.at(id), numbers));
      rows_.push_back({at->second, rows.number(place)});
    }
  }

  std::size_t rows() const { return rows_.size(); }
  Iteration number(std::size_t row) const { return rows_[row].number; }

  /// The events of most iterations, ascending.
  std::vector<std::uint32_t> frequent(std::size_t least) const {
    std::map<std::uint32_t, std::size_t> counts;
    for (const Row& row : rows_)
      for (const auto& [event, place] : sequences_[row.sequence]) ++counts[event];
    std::vector<std::pair<std::size_t, std::uint32_t>> sorted;
    for (const auto& [event, count] : counts)
      if (count >= least) sorted.emplace_back(count, event);
    std::ranges::sort(sorted, std::greater<>{});
    sorted.resize(std::min(sorted.size(), kEventsMax));
    std::vector<std::uint32_t> events;
    events.reserve(sorted.size());
    for (const auto& [count, event] : sorted) events.push_back(event);
    std::ranges::sort(events);
    return events;
  }

  /// Whether the first event of the pair comes first in a row; empty without both.
  std::optional<bool> first_leads(std::size_t row, const Pair& pair) const {
    const Places& places = sequences_[rows_[row].sequence];
    const auto one = place_in(places, pair.first), other = place_in(places, pair.second);
    if (one == kAbsent || other == kAbsent) return std::nullopt;
    return one < other;
  }

 private:
  using Places = std::vector<std::pair<std::uint32_t, std::uint16_t>>;  ///< by event
  struct Row {
    std::size_t sequence = 0;
    Iteration number{0};
  };

  static Places places_of(const job::Sequence& sequence, EventNumbers& numbers) {
    Places places;
    for (std::size_t i = 0; i < sequence.size(); ++i)
      if (const auto event = numbers.of(sequence[i]))
        places.emplace_back(*event, static_cast<std::uint16_t>(i));
    std::ranges::sort(places);
    const auto rest = std::ranges::unique(places, {}, [](const auto& one) { return one.first; });
    places.erase(rest.begin(), rest.end());
    return places;
  }

  static std::uint16_t place_in(const Places& places, std::uint32_t event) {
    const auto at = std::ranges::lower_bound(places, event, {}, &Places::value_type::first);
    return at != places.end() && at->first == event ? at->second : kAbsent;
  }

  std::vector<Places> sequences_;
  std::vector<Row> rows_;
};

/// The orders of a pair in all iterations that have it, true where the first event leads.
struct History {
  std::vector<bool> leads;
  std::vector<std::size_t> rows;
};

History history_of(const Orders& orders, const Pair& pair) {
  History history;
  for (std::size_t row = 0; row < orders.rows(); ++row)
    if (const auto leads = orders.first_leads(row, pair)) {
      history.leads.push_back(*leads);
      history.rows.push_back(row);
    }
  return history;
}

/// A quick look: at both ends the pair stands alike, so it has not turned for good.
bool ends_alike(const Orders& orders, const Pair& pair) {
  std::optional<bool> first, last;
  for (std::size_t row = 0; row < orders.rows() && !first; ++row)
    first = orders.first_leads(row, pair);
  for (std::size_t row = orders.rows(); row-- > 0 && !last;) last = orders.first_leads(row, pair);
  return !first || first == last;
}

std::optional<Turn> turn_of(const Orders& orders, const Pair& pair, const TurnOptions& options) {
  const History history = history_of(orders, pair);
  const std::size_t size = history.leads.size();
  if (size < options.rows_min) return std::nullopt;
  const auto all = static_cast<std::size_t>(std::ranges::count(history.leads, true));
  const bool old = history.leads.front();
  const std::size_t all_old = old ? all : size - all;
  // The cut with the fewest iterations in the wrong order on its side.
  std::size_t best = 0, least = size, seen_old = 0;
  std::size_t wrong_before = 0, wrong_after = 0;
  for (std::size_t cut = 1; cut < size; ++cut) {
    seen_old += history.leads[cut - 1] == old ? 1 : 0;
    const std::size_t before = cut - seen_old, after = all_old - seen_old;
    if (before + after >= least) continue;
    least = before + after;
    best = cut;
    wrong_before = before;
    wrong_after = after;
  }
  const std::size_t after = size - best;
  const auto few = [&](std::size_t wrong, std::size_t of) {
    return static_cast<double>(wrong) <= options.off_max * static_cast<double>(of);
  };
  if (best < options.before_min || after < options.after_min || !few(wrong_before, best) ||
      !few(wrong_after, after))
    return std::nullopt;
  Turn turn;
  turn.earlier = old ? pair.first : pair.second;
  turn.later = old ? pair.second : pair.first;
  turn.iteration = orders.number(history.rows[best]);
  turn.before = best;
  turn.after = after;
  return turn;
}

using StreamOrders = std::vector<std::pair<std::uint32_t, Orders>>;

/// All other streams keep the order all along: most of them the old one, some perhaps the other,
/// by their role or because their rounds begin elsewhere; and nearly none changes it.
bool peers_keep(const StreamOrders& all, const Pair& pair, bool old,
                const std::vector<Turn>& turned, const TurnOptions& options) {
  std::size_t keep = 0, rows = 0, other = 0, changing = 0;
  for (const auto& [stream, orders] : all) {
    const auto same = [&](const Turn& turn) { return turn.stream == stream; };
    if (std::ranges::any_of(turned, same)) continue;
    const History history = history_of(orders, pair);
    if (history.leads.empty()) continue;
    const auto size = static_cast<double>(history.leads.size());
    const auto off = static_cast<double>(std::ranges::count(history.leads, !old));
    if (off <= options.off_max * size) {
      ++keep;
      rows += history.leads.size();
    } else {
      ++(size - off <= options.off_max * size ? other : changing);
    }
  }
  const bool few = turned.size() == 1 || job::is_few(turned.size(), keep + turned.size());
  return few && keep >= options.peers_min && rows >= options.peers_rows_min &&
         job::is_few(other, keep + other) &&
         static_cast<double>(changing) <= options.changing_max * static_cast<double>(keep);
}

/// Whether a stream printed more than one sequence: else no pair can have turned.
bool varies(const job::NumberedRows& rows) {
  std::optional<job::SequenceId> known;
  for (std::size_t place = rows.size() - std::min(rows.size(), kRowsMax); place < rows.size();
       ++place) {
    const job::SequenceId id = rows.record(place).sequence;
    if (id == job::SequenceId{0}) continue;
    if (known && *known != id) return true;
    known = id;
  }
  return false;
}

/// The orders of the streams that vary, or of all.
StreamOrders orders_of(const job::JobView& view, const job::NumberedStreams& numbered,
                       bool varying_only, const TurnOptions& options) {
  std::unordered_map<const job::AgentSlice*, EventNumbers> numbers;
  StreamOrders all;
  for (std::uint32_t i = 0; i < numbered.size(); ++i) {
    if (numbered[i].size() < options.rows_min) continue;
    if (varying_only && !varies(numbered[i])) continue;
    const job::StreamView& stream = view.streams[i];
    EventNumbers& of_agent = numbers.try_emplace(stream.agent, view, *stream.agent).first->second;
    all.emplace_back(i, Orders(stream, numbered[i], of_agent));
  }
  return all;
}

}  // namespace

std::vector<Turn> find_turns(const job::JobView& view, const TurnOptions& options) {
  const job::NumberedStreams numbered = job::number_streams(view);
  std::map<Pair, std::vector<Turn>> by_pair;
  for (const auto& [stream, orders] : orders_of(view, numbered, true, options)) {
    const auto events = orders.frequent(options.rows_min);
    for (std::size_t i = 0; i < events.size(); ++i)
      for (std::size_t k = i + 1; k < events.size(); ++k) {
        const Pair pair{events[i], events[k]};
        if (ends_alike(orders, pair)) continue;
        auto turn = turn_of(orders, pair, options);
        if (!turn) continue;
        turn->stream = stream;
        by_pair[pair].push_back(*turn);
      }
  }
  if (by_pair.empty()) return {};
  const StreamOrders all = orders_of(view, numbered, false, options);
  std::map<std::uint32_t, Turn> best;
  std::size_t looked = 0;
  for (const auto& [pair, turns] : by_pair) {
    if (turns.size() > 1 && !job::is_few(turns.size(), all.size())) continue;
    if (++looked > kPairsMax) break;
    if (!peers_keep(all, pair, turns.front().earlier == pair.first, turns, options)) continue;
    for (const Turn& turn : turns) {
      const auto [at, fresh] = best.try_emplace(turn.stream, turn);
      if (!fresh && turn.before + turn.after > at->second.before + at->second.after)
        at->second = turn;
    }
  }
  std::vector<Turn> found;
  found.reserve(best.size());
  for (const auto& [stream, turn] : best) found.push_back(turn);
  std::ranges::stable_sort(found, std::greater<>{},
                           [](const Turn& turn) { return turn.before + turn.after; });
  return found;
}

}  // namespace l4::detect::temporal
