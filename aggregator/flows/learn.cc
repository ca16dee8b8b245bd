#include "aggregator/flows/learn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "aggregator/flows/numbers.h"
#include "aggregator/flows/union_find.h"

namespace l4::flows {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

struct PairLoad {
  std::uint64_t bytes = 0, packets = 0;
};

/// Pairs that carry enough: probes and stray connections join no jobs.
std::map<Pair, bool> training_pairs(const StreamList& streams, const StreamTable& table,
                                    const ExporterSettings& exporter) {
  constexpr std::uint64_t kBytesMin = 1 << 20, kSeenMin = 8;
  constexpr double kShareMin = 1e-4;
  std::map<Pair, PairLoad> loads;
  for (const std::uint32_t index : streams) {
    const Stream& stream = table.streams()[index];
    PairLoad& load = loads[{stream.src_card, stream.dst_card}];
    load.bytes += stream.bytes;
    load.packets += stream.packets;
  }
  std::vector<std::uint64_t> heaviest(table.cards().size());
  for (const auto& [pair, load] : loads)
    for (const std::uint32_t card : {pair.first, pair.second})
      heaviest[card] = std::max(heaviest[card], load.bytes);
  std::map<Pair, bool> keep;
  for (const auto& [pair, load] : loads) {
    const std::uint64_t most = std::min(heaviest[pair.first], heaviest[pair.second]);
    keep[pair] = load.bytes >= kBytesMin &&
                 static_cast<double>(load.bytes) >= kShareMin * static_cast<double>(most) &&
                 load.packets >= kSeenMin * exporter.sampling;
  }
  return keep;
}

constexpr std::size_t kRowsMin = 3;

/// It carried something that can be learned from.
bool can_be_learned(const Stream& stream) {
  return stream.rows >= kRowsMin && stream.dst_card != kNone;
}

/// The same, and no job has it.
bool is_free(const Stream& stream) {
  return stream.job == kNone && can_be_learned(stream);
}

/// Bytes a nanosecond.
double rate_of(const Row& row) {
  return static_cast<double>(row.bytes) /
         static_cast<double>(std::max<TimeNs>(1, row.end - row.start));
}

Edge edge_of(const Track& track, TimeNs offset = 0) {
  return {track.stream, track.src, track.dst, offset};
}

/// Offsets of the clocks of the group's edges against the first one's, along the mates.
void set_offsets(Group& group, const std::vector<std::uint32_t>& members,
                 const std::vector<Mate>& mates) {
  constexpr TimeNs kNoise = kMillisecond / 5;
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < members.size(); ++i) place[members[i]] = i;
  std::vector<bool> known(members.size());
  for (std::size_t first = 0; first < members.size(); ++first) {
    TimeNs offset = known[first] ? group.edges[first].offset : 0;
    for (std::size_t at = first; !known[at];) {  // along the ring until it closes
      known[at] = true;
      group.edges[at].offset = std::abs(offset) < kNoise ? 0 : offset;
      const Mate& mate = mates[members[at]];
      const auto next = place.find(mate.track);
      if (next == place.end()) break;
      offset += mate.offset;
      at = next->second;
    }
  }
}

EventSettings event_settings(const std::vector<Track>& tracks,
                             const std::vector<std::uint32_t>& members,
                             const ExporterSettings& exporter) {
  EventSettings settings;
  std::vector<TimeNs> tolerances;
  for (const std::uint32_t member : members)
    for (const Row& row : tracks[member].rows) {
      if (tolerances.size() >= 256) break;
      tolerances.push_back(end_tolerance(row, settings.tolerance, exporter.sampling));
    }
  if (!tolerances.empty()) settings.tolerance = median(tolerances);
  settings.hold += exporter.inactive + exporter.inactive / 4;
  return settings;
}

/// Exchanges between experts carry what the router gives them: another size each time.
bool varies(std::span<const Row> rows) {
  constexpr double kVaries = 0.08;
  std::vector<double> sizes;
  sizes.reserve(rows.size());
  for (const Row& row : rows) sizes.push_back(static_cast<double>(row.bytes));
  return scatter(sizes) > kVaries * mean(sizes);
}

/// Records that hold one transfer or several, all of one size: whole multiples of it.
bool are_multiples(std::span<const Row> rows) {
  constexpr double kOff = 0.02, kMost = 0.9;
  std::vector<double> sizes;
  sizes.reserve(rows.size());
  for (const Row& row : rows) sizes.push_back(static_cast<double>(row.bytes));
  std::ranges::sort(sizes);
  const double least = sizes[sizes.size() / 20];
  const auto whole = std::ranges::count_if(sizes, [&](double size) {
    const double times = size / least;
    return std::abs(times - std::round(times)) < kOff;
  });
  return static_cast<double>(whole) >= kMost * static_cast<double>(sizes.size());
}

/// Exchanges where one packet in N is seen, by how far sizes differ from those of the mate: more
/// than packets that were seen do, which is as Poisson counts without their zeros do.
bool differ_sampled(const Track& own, const Track& mate, const ExporterSettings& exporter) {
  constexpr double kMore = 0.15, kSigmas = 4, kMany = 16;
  constexpr std::size_t kRows = 400;
  double squares = 0, sum = 0, all = 0;
  auto at = mate.rows.begin();
  for (const Row& row : own.rows) {
    if (all >= kRows) break;
    const auto away = [&](const Row& one) { return std::abs(one.end - row.end); };
    while (at != mate.rows.end() && at + 1 != mate.rows.end() && away(at[1]) <= away(*at)) ++at;
    if (at == mate.rows.end() || away(*at) > kMillisecond) continue;
    const double one = static_cast<double>(row.packets) / exporter.sampling;
    const double two = static_cast<double>(at->packets) / exporter.sampling;
    squares += (one - two) * (one - two);
    sum += one + two;
    ++all;
  }
  if (all < 2) return false;
  const double seen = sum / all / 2, rate = rate_of_seen(seen);
  if (seen > kMany) return false;  // sizes are good enough to have been compared
  const double usual = 2 * seen * (1 + rate - seen);
  return squares / all > usual * (1 + std::max(kMore, kSigmas * std::sqrt(2 / all)));
}

/// A record holds several transfers: it lasts far longer than its bytes need, or longer than the
/// pause that would have ended it.
bool is_merged(const Track& track, double best_rate, const ExporterSettings& exporter) {
  constexpr double kSlow = 0.05;
  std::vector<double> rates;
  std::vector<TimeNs> lengths;
  rates.reserve(track.rows.size());
  lengths.reserve(track.rows.size());
  for (const Row& row : track.rows) {
    rates.push_back(rate_of(row));
    lengths.push_back(row.end - row.start);
  }
  return median(std::move(rates)) < kSlow * best_rate ||
         (exporter.inactive > 0 && median(std::move(lengths)) > exporter.inactive);
}

/// Pairs of which both ends exchange with a common third one, or each with two cards of the other's
/// server: what those two exchange stays within it, and a stage of a pipeline has one card there.
class Triangles {
 public:
  explicit Triangles(const StreamTable& table) : table_(&table) {}
  void add(const Track& track) {
    peers_[track.src].insert(track.dst);
    peers_[track.dst].insert(track.src);
  }
  bool has(const Track& track) const {
    const auto& other = peers_.at(track.dst);
    return std::ranges::any_of(peers_.at(track.src),
                               [&](std::uint32_t card) { return other.contains(card); }) ||
           (has_two(track.src, track.dst) && has_two(track.dst, track.src));
  }

 private:
  /// `card` exchanges with `peer` and another card of the same server.
  bool has_two(std::uint32_t card, std::uint32_t peer) const {
    const auto server = [&](std::uint32_t one) { return table_->cards()[one].server; };
    return server(peer) != kNone && std::ranges::any_of(peers_.at(card), [&](std::uint32_t other) {
             return other != peer && server(other) == server(peer);
           });
  }

  const StreamTable* table_;
  std::map<std::uint32_t, std::set<std::uint32_t>> peers_;
};

/// Sizes of one transfer, seen twice, differ by sampling.
StepLearning step_learning(const std::vector<const Track*>& tracks,
                           const ExporterSettings& exporter) {
  constexpr double kSigmas = 4.5;
  StepLearning learning;
  learning.vague = exporter.is_vague();
  if (exporter.sampling <= 1) return learning;
  std::vector<std::uint32_t> packets;
  for (const Track* track : tracks)
    for (const Row& row : track->rows) packets.push_back(row.packets);
  const double each = std::max<std::uint32_t>(1, median(std::move(packets)));
  learning.size_tolerance +=
      kSigmas * std::sqrt(exporter.sampling / each / static_cast<double>(tracks.size()));
  return learning;
}

/// A group whose collectives fill the step, on a card that also has one in bursts, is context
/// parallelism; others that fill it are sharded data parallelism.
void tell_context_from_data(std::vector<Group>& groups,
                            const std::vector<std::vector<const Track*>>& tracks) {
  constexpr double kFills = 0.3, kFillsIfFew = 0.45, kMore = 1.5, kBurst = 0.5;
  std::map<std::uint32_t, std::vector<std::size_t>> by_card;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const std::uint32_t card : groups[i].cards) by_card[card].push_back(i);
  for (std::size_t one = 0; one < groups.size(); ++one)
    for (const std::size_t two : by_card[groups[one].cards.front()]) {
      const auto& burst = groups[two].rule;
      if (one == two || !burst || burst->spread() > kBurst || groups[two].label != Label::data)
        continue;
      const auto& own = groups[one].rule;
      const double fill = fill_of(tracks[one], burst->period);
      // Few collectives in a step: they must fill it all the more.
      const bool is_many = burst->events > 1 && (!own || own->events > burst->events);
      if (fill > (is_many ? kFills : kFillsIfFew) &&
          fill > kMore * fill_of(tracks[two], burst->period)) {
        groups[one].label = Label::context;
        break;
      }
    }
}

}  // namespace

const char* to_text(Label label) {
  switch (label) {
    case Label::data:
      return "DP";
    case Label::pipeline:
      return "PP";
    case Label::context:
      return "CP";
    case Label::expert:
      return "EP";
  }
  return "";
}

double fill_of(const std::vector<const Track*>& tracks, TimeNs period) {
  constexpr std::size_t kPeriods = 16;
  std::vector<std::pair<TimeNs, TimeNs>> busy;
  TimeNs first = std::numeric_limits<TimeNs>::max();
  for (const Track* track : tracks)
    if (!track->rows.empty()) first = std::min(first, track->rows.front().start);
  if (period <= 0 || first == std::numeric_limits<TimeNs>::max()) return 0;
  const TimeNs last = first + static_cast<TimeNs>(kPeriods + 1) * period;
  for (const Track* track : tracks)
    for (const Row& row : track->rows) {
      if (row.start > last) break;
      busy.emplace_back(row.start, row.end);
    }
  std::ranges::sort(busy);
  std::vector<double> pauses;
  TimeNs until = busy.front().second, begin = busy.front().first, longest = 0;
  for (const auto& [start, end] : busy) {
    while (start >= begin + period && pauses.size() < kPeriods) {
      longest = std::max(longest, std::min(begin + period, start) - std::max(until, begin));
      pauses.push_back(static_cast<double>(longest) / static_cast<double>(period));
      begin += period;
      longest = 0;
    }
    if (start > until) longest = std::max(longest, start - std::max(until, begin));
    until = std::max(until, end);
  }
  return 1 - median(std::move(pauses));
}

StreamList free_streams(const StreamTable& table) {
  StreamList streams;
  for (std::uint32_t i = 0; i < table.streams().size(); ++i)
    if (is_free(table.streams()[i])) streams.push_back(i);
  return streams;
}

std::vector<StreamList> parts_to_learn(const StreamTable& table, const ExporterSettings& exporter,
                                       const std::set<std::uint32_t>& outgrown) {
  StreamList streams;
  for (std::uint32_t i = 0; i < table.streams().size(); ++i) {
    const Stream& stream = table.streams()[i];
    const bool no_job = stream.job == kNone || outgrown.contains(stream.job);
    if (no_job && can_be_learned(stream)) streams.push_back(i);
  }
  if (streams.empty()) return {};
  if (table.topology().empty()) return {std::move(streams)};
  const auto keep = training_pairs(streams, table, exporter);
  const auto cards = static_cast<std::uint32_t>(table.cards().size());
  UnionFind sets(cards + table.topology().servers().size());  // cards, and behind them servers
  const auto join_server = [&](std::uint32_t card) {
    if (table.cards()[card].server != kNone) sets.join(card, cards + table.cards()[card].server);
  };
  std::erase_if(streams, [&](std::uint32_t index) {
    const Stream& stream = table.streams()[index];
    return !keep.at({stream.src_card, stream.dst_card}) && stream.job == kNone;
  });
  for (const std::uint32_t index : streams) {
    const Stream& stream = table.streams()[index];
    sets.join(stream.src_card, stream.dst_card);
    join_server(stream.src_card);
    join_server(stream.dst_card);
  }
  std::map<std::uint32_t, StreamList> parts;
  for (const std::uint32_t index : streams)
    parts[sets.find(table.streams()[index].src_card)].push_back(index);
  std::vector<StreamList> all;
  all.reserve(parts.size());
  for (auto& [set, part] : parts) all.push_back(std::move(part));
  return all;
}

std::vector<Track> collect_tracks(const StreamTable& table, const StreamList& streams,
                                  const ExporterSettings& exporter) {
  StreamList own;
  for (const std::uint32_t i : streams)
    if (is_free(table.streams()[i])) own.push_back(i);
  const auto keep = training_pairs(own, table, exporter);
  // First how many rows of each are kept, then each into its place: rows are written once.
  const std::size_t all = table.streams().size();
  std::vector<std::uint32_t> counts(all);
  const RowStore& rows = table.rows();
  const bool has_all = rows.pushed() == rows.size();
  if (!has_all)
    for (std::size_t i = 0; i < rows.size(); ++i) ++counts[rows[i].stream];
  std::vector<Row*> next(all);  // of each stream where its next row goes; null: nowhere
  std::vector<Track> tracks;
  std::size_t sum = 0;
  const auto count_of = [&](std::uint32_t i) {
    return has_all ? table.streams()[i].rows : counts[i];
  };
  std::erase_if(own, [&](std::uint32_t i) {
    const Stream& stream = table.streams()[i];
    return count_of(i) < kRowsMin || !keep.at({stream.src_card, stream.dst_card});
  });
  for (const std::uint32_t i : own) sum += count_of(i);
  const auto memory = std::make_shared<LargeArray<Row>>(sum);
  Row* free = memory->data();
  for (const std::uint32_t i : own) {
    const Stream& stream = table.streams()[i];
    tracks.push_back({i, stream.src_card, stream.dst_card, {free, count_of(i)}, memory});
    next[i] = free;
    free += count_of(i);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (Row*& to = next[rows[i].stream]; to != nullptr) *to++ = rows[i];
  for (const Track& track : tracks)
    sort_by_end(std::span(next[track.stream] - track.rows.size(), track.rows.size()));
  return tracks;
}

namespace {

/// The rows of a group's edges by their ends, those of the first edge first where ends are equal.
class MergedParts {
 public:
  MergedParts(const Group& group, const std::vector<const Track*>& tracks)
      : group_(group), tracks_(tracks), places_(tracks.size()) {
    for (std::uint32_t edge = 0; edge < group.edges.size(); ++edge)
      if (!tracks[edge]->rows.empty()) heads_.push_back({end_of(edge), edge});
    std::ranges::make_heap(heads_, std::greater<>());
  }
  bool empty() const { return heads_.empty(); }
  Part next() {
    const std::uint32_t edge = heads_.front().second;
    const Row& row = tracks_[edge]->rows[places_[edge]++];
    if (places_[edge] == tracks_[edge]->rows.size()) {
      std::ranges::pop_heap(heads_, std::greater<>());
      heads_.pop_back();
    } else {
      sift({end_of(edge), edge});
    }
    const TimeNs offset = group_.edges[edge].offset;
    return {edge, row.start - offset, row.end - offset, row.bytes};
  }

 private:
  using Head = std::pair<TimeNs, std::uint32_t>;

  TimeNs end_of(std::uint32_t edge) const {
    return tracks_[edge]->rows[places_[edge]].end - group_.edges[edge].offset;
  }
  /// Puts `head` in the place of the first one.
  void sift(const Head& head) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heads_.size(); child = 2 * at + 1) {
      if (child + 1 < heads_.size() && heads_[child + 1] < heads_[child]) ++child;
      if (head < heads_[child]) break;
      heads_[at] = heads_[child];
      at = child;
    }
    heads_[at] = head;
  }

  const Group& group_;
  const std::vector<const Track*>& tracks_;
  std::vector<std::size_t> places_;
  std::vector<Head> heads_;  ///< a heap, the earliest first
};

}  // namespace

std::vector<Beat> beats_of(const Group& group, const std::vector<const Track*>& tracks) {
  std::vector<Beat> beats;
  std::size_t rows = 0;
  for (const Track* track : tracks) rows = std::max(rows, track->rows.size());
  beats.reserve(rows);
  const auto closed = [&](const Event& event) {
    beats.push_back({event.first_start, event.end, event.bytes / event.parts.size()});
  };
  Assembler assembler(group.edges.size(), group.events);
  TimeNs last = 0;
  for (MergedParts parts(group, tracks); !parts.empty();) {
    const Part part = parts.next();
    last = part.end;
    assembler.add(part, closed);
  }
  if (last != 0) assembler.release(last + 2 * group.events.hold, closed);
  return beats;
}

Labelled label(const StreamTable& table, const std::vector<Track>& tracks,
               const ExporterSettings& exporter) {
  // With wider tolerances more of a pipeline meets by chance.
  const double collective = exporter.sampling > 1 ? 0.7 : 0.5;
  const std::vector<Mate> mates = find_mates(tracks, exporter);
  Labelled labelled;
  UnionFind sets(tracks.size());
  std::vector<bool> is_collective(tracks.size());
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    is_collective[i] =
        mates[i].share >= collective &&
        (exporter.sampling <= 1 || !differ_sampled(tracks[i], tracks[mates[i].track], exporter));
    if (is_collective[i]) sets.join(i, mates[i].track);
  }
  double best_rate = 0;
  for (const Track& track : tracks)
    for (const Row& row : track.rows)
      if (row.end - row.start > kMillisecond / 10) best_rate = std::max(best_rate, rate_of(row));
  std::vector<std::uint32_t> alone;
  Triangles triangles(table);
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; i < tracks.size(); ++i)
    if (is_collective[i]) members[sets.find(i)].push_back(i);
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (is_collective[i]) continue;
    if (const auto set = members.find(sets.find(i)); set != members.end()) {
      set->second.push_back(i);  // the mate of a collective stream is collective
      continue;
    }
    alone.push_back(i);
    triangles.add(tracks[i]);
  }
  const std::vector<bool> vary =
      exporter.sampling > 1 ? vary_sampled(tracks, alone, exporter) : std::vector<bool>();
  for (std::size_t place = 0; place < alone.size(); ++place) {
    const std::uint32_t i = alone[place];
    // Sizes of merged records tell nothing: they vary in pipelines, too, and the sum of many
    // exchanges varies little. Stages of a pipeline are a chain, without triangles.
    const bool is_exchange = exporter.sampling > 1 ? triangles.has(tracks[i]) || vary[place]
                             : is_merged(tracks[i], best_rate, exporter)
                                 ? triangles.has(tracks[i])
                                 : varies(tracks[i].rows) && !are_multiples(tracks[i].rows);
    (is_exchange ? labelled.experts : labelled.pipes).push_back(edge_of(tracks[i]));
  }
  std::vector<std::vector<const Track*>> rows_of;
  for (const auto& [set, own] : members) {
    Group group;
    std::vector<const Track*> rows;
    for (const std::uint32_t member : own) {
      group.edges.push_back(edge_of(tracks[member]));
      rows.push_back(&tracks[member]);
      for (const std::uint32_t card : {tracks[member].src, tracks[member].dst})
        group.cards.push_back(card);
      for (const Row& row : tracks[member].rows) group.bytes += row.bytes;
    }
    std::ranges::sort(group.cards);
    group.cards.erase(std::ranges::unique(group.cards).begin(), group.cards.end());
    set_offsets(group, own, mates);
    group.events = event_settings(tracks, own, exporter);
    group.beats = beats_of(group, rows);
    group.rule = learn_steps(group.beats, step_learning(rows, exporter));
    labelled.groups.push_back(std::move(group));
    rows_of.push_back(std::move(rows));
  }
  tell_context_from_data(labelled.groups, rows_of);
  return labelled;
}

std::vector<JobPlan> learn(const StreamTable& table, const StreamList& streams,
                           const ExporterSettings& exporter) {
  const std::vector<Track> tracks = collect_tracks(table, streams, exporter);
  std::vector<JobPlan> jobs = join_jobs(table, tracks, label(table, tracks, exporter), exporter);
  if (exporter.sampling <= 1)  // else moments are too vague to tell who sends together
    for (JobPlan& job : jobs) job.strategy = strategy_of(job, table, tracks);
  return jobs;
}

}  // namespace l4::flows
