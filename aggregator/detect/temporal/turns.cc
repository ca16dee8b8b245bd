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

using Places = std::vector<std::pair<std::uint32_t, std::uint16_t>>;  ///< by event

/// Tells whether sequences of events agree on one order, so that no two of them have two events the
/// other way round: where what follows what has no cycle.
class CommonOrder {
 public:
  explicit CommonOrder(std::size_t events) : nodes_(events) {}

  void begin_sequence() {
    ++sequence_;
    before_.reset();
  }
  /// The next event of the sequence; only its first place in it counts.
  void add(std::uint32_t event) {
    Node& node = nodes_[event];
    if (node.sequence == sequence_) return;
    if (node.sequence == 0) events_.push_back(event);
    node.sequence = sequence_;
    if (before_) {
      nodes_[*before_].next.push_back(event);
      ++node.before;
    }
    before_ = event;
  }

  /// Whether there is one for all sequences since the last call, which it forgets.
  bool take() {
    std::vector<std::uint32_t> ready;
    for (const std::uint32_t event : events_)
      if (nodes_[event].before == 0) ready.push_back(event);
    std::size_t placed = 0;
    for (; placed < ready.size(); ++placed)
      for (const std::uint32_t next : nodes_[ready[placed]].next)
        if (--nodes_[next].before == 0) ready.push_back(next);
    const bool all = placed == events_.size();
    for (const std::uint32_t event : events_) {
      nodes_[event].next.clear();
      nodes_[event].before = nodes_[event].sequence = 0;
    }
    events_.clear();
    sequence_ = 0;
    return all;
  }

 private:
  struct Node {
    std::vector<std::uint32_t> next;  ///< events right behind it in some sequence
    std::size_t before = 0;           ///< times it stands right behind another
    std::size_t sequence = 0;         ///< the newest that has it; 0: none
  };

  std::vector<Node> nodes_;            // by event
  std::vector<std::uint32_t> events_;  // that some sequence has
  std::size_t sequence_ = 0;
  std::optional<std::uint32_t> before_;
};

/// Where the events of one agent's sequences stand in them. Its ranks share most sequences.
class AgentPlaces {
 public:
  AgentPlaces(const job::JobView& view, const job::AgentSlice& agent)
      : numbers_(view, agent), sequences_(agent.sequences) {}

  /// All sequences of the agent have one order, so none of its streams has turned. False also where
  /// to find out would take too long.
  bool keep_order(CommonOrder& order) {
    if (!kept_) {
      kept_ = false;
      if (sequences_.elements() <= kElementsMax) kept_ = find_order(order);
    }
    return *kept_;
  }

  /// Valid as long as this object.
  const Places* of(job::SequenceId id) {
    const auto [at, fresh] = known_.try_emplace(id.value());
    if (fresh) at->second = places_of(sequences_.at(id));
    return &at->second;
  }

 private:
  static constexpr std::size_t kElementsMax = 65'536;

  bool find_order(CommonOrder& order) {
    for (std::uint32_t id = 1; sequences_.has(job::SequenceId{id}); ++id) {
      order.begin_sequence();
      for (const std::uint32_t local : sequences_.at(job::SequenceId{id}))
        if (const auto event = numbers_.of(local)) order.add(*event);
    }
    return order.take();
  }

  Places places_of(const job::Sequence& sequence) {
    Places places;
    places.reserve(sequence.size());
    for (std::size_t i = 0; i < sequence.size(); ++i)
      if (const auto event = numbers_.of(sequence[i]))
        places.emplace_back(*event, static_cast<std::uint16_t>(i));
    std::ranges::sort(places);
    const auto rest = std::ranges::unique(places, {}, [](const auto& one) { return one.first; });
    places.erase(rest.begin(), rest.end());
    return places;
  }

  EventNumbers numbers_;
  const job::SequencePool& sequences_;
  std::optional<bool> kept_;
  std::unordered_map<std::uint32_t, Places> known_;  // by sequence
};

/// The sequences of one stream, by iteration.
class Orders {
 public:
  Orders(const job::NumberedRows& rows, AgentPlaces& agent) {
    const std::size_t from = rows.size() - std::min(rows.size(), kRowsMax);
    rows_.reserve(rows.size() - from);
    job::SequenceId before{0};
    for (std::size_t place = from; place < rows.size(); ++place) {
      const job::SequenceId id = rows.record(place).sequence;
      if (id == job::SequenceId{0}) continue;
      const bool again = id == std::exchange(before, id);
      rows_.push_back({again ? rows_.back().places : agent.of(id), rows.number(place)});
    }
  }

  std::size_t rows() const { return rows_.size(); }
  Iteration number(std::size_t row) const { return rows_[row].number; }

  /// Whether a stream printed more than one sequence: else no pair can have turned.
  bool vary() const {
    return std::ranges::any_of(rows_,
                               [&](const Row& row) { return row.places != rows_.front().places; });
  }

  /// The events of most iterations, ascending.
  std::vector<std::uint32_t> frequent(std::size_t least) const {
    std::vector<std::pair<std::uint32_t, std::size_t>> counts;  // of each sequence
    for (const auto& [places, times] : times_of_sequences())
      for (const auto& [event, place] : *places) counts.emplace_back(event, times);
    std::ranges::sort(counts);
    std::vector<std::pair<std::size_t, std::uint32_t>> sorted;
    for (auto at = counts.begin(); at != counts.end();) {
      const std::uint32_t event = at->first;
      std::size_t count = 0;
      for (; at != counts.end() && at->first == event; ++at) count += at->second;
      if (count >= least) sorted.emplace_back(count, event);
    }
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
    const Places& places = *rows_[row].places;
    const auto one = place_in(places, pair.first), other = place_in(places, pair.second);
    if (one == kAbsent || other == kAbsent) return std::nullopt;
    return one < other;
  }

 private:
  struct Row {
    const Places* places = nullptr;
    Iteration number{0};
  };

  /// How many rows have each sequence.
  std::unordered_map<const Places*, std::size_t> times_of_sequences() const {
    std::unordered_map<const Places*, std::size_t> times;
    for (auto row = rows_.begin(); row != rows_.end();) {
      const auto end = std::find_if(row, rows_.end(),
                                    [&](const Row& next) { return next.places != row->places; });
      times[row->places] += static_cast<std::size_t>(end - row);
      row = end;
    }
    return times;
  }

  static std::uint16_t place_in(const Places& places, std::uint32_t event) {
    const auto at = std::ranges::lower_bound(places, event, {}, &Places::value_type::first);
    return at != places.end() && at->first == event ? at->second : kAbsent;
  }

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

/// Of the job's agents; what it hands out is valid as long as this object.
class JobPlaces {
 public:
  explicit JobPlaces(const job::JobView& view) : view_(view), order_(view.events.size()) {}

  bool may_turn(std::uint32_t stream) { return !of(stream).keep_order(order_); }
  Orders orders_of(std::uint32_t stream, const job::NumberedRows& rows) {
    return {rows, of(stream)};
  }

 private:
  AgentPlaces& of(std::uint32_t stream) {
    const job::AgentSlice* const agent = view_.streams[stream].agent;
    return agents_.try_emplace(agent, view_, *agent).first->second;
  }

  const job::JobView& view_;
  CommonOrder order_;
  std::unordered_map<const job::AgentSlice*, AgentPlaces> agents_;
};

using TurnsByPair = std::map<Pair, std::vector<Turn>>;

/// The pairs of one stream that turned for good.
void find_pairs(const Orders& orders, std::uint32_t stream, const TurnOptions& options,
                TurnsByPair& by_pair) {
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

}  // namespace

std::vector<Turn> find_turns(const job::JobView& view, const TurnOptions& options) {
  const job::NumberedStreams numbered = job::number_streams(view);
  JobPlaces places(view);
  TurnsByPair by_pair;
  const auto enough = [&](std::uint32_t stream) {
    return numbered[stream].size() >= options.rows_min;
  };
  for (std::uint32_t i = 0; i < numbered.size(); ++i) {
    if (!enough(i) || !places.may_turn(i)) continue;
    const Orders orders = places.orders_of(i, numbered[i]);
    if (orders.vary()) find_pairs(orders, i, options, by_pair);
  }
  if (by_pair.empty()) return {};
  StreamOrders all;
  for (std::uint32_t i = 0; i < numbered.size(); ++i)
    if (enough(i)) all.emplace_back(i, places.orders_of(i, numbered[i]));
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
