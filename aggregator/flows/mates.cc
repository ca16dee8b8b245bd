#include "aggregator/flows/mates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "aggregator/flows/numbers.h"
#include "aggregator/flows/union_find.h"

namespace l4::flows {
namespace {

constexpr std::size_t kCompared = 48;  // rows of a track
constexpr TimeNs kApart = 6 * kMillisecond, kEndsTogether = kMillisecond / 4;

/// A row of the track and the nearest of a candidate's.
struct Meeting {
  const Row* own = nullptr;
  const Row* other = nullptr;
  TimeNs distance = 0;
};

/// Records of many transfers end together where the exporter cuts them, whatever they carry: only
/// those of a collective have the same bytes, too.
bool is_alike(const Row& one, const Row& two, std::uint32_t sampling, bool is_merged) {
  constexpr double kAlike = 0.05, kSampledAlike = 4.5, kMergedAlike = 0.003;
  const auto first = static_cast<double>(one.bytes), second = static_cast<double>(two.bytes);
  double tolerance = is_merged ? kMergedAlike : kAlike;
  if (sampling > 1) {
    const double packets = std::max(1.0, static_cast<double>(std::min(one.packets, two.packets)));
    tolerance = std::max(tolerance, kSampledAlike * std::sqrt(sampling / packets));
  }
  return std::abs(first - second) <= tolerance * std::max(first, second);
}

class Comparison {
 public:
  Comparison(const Track& own, const ExporterSettings& exporter) : own_(own), exporter_(exporter) {
    // From the middle: the beginning of a capture is often torn.
    const std::size_t count = std::min(kCompared, own.rows.size());
    first_ = (own.rows.size() - count) / 2;
    vague_ = usual_tolerance(own);
    merged_ = exporter.sampling <= 1 && lasts_longer(own, exporter.inactive);
    last_ = first_ + count;
  }

  Mate against(const Track& other, std::uint32_t index) {
    meet(other);
    Mate mate;
    mate.track = index;
    if (met_.empty()) return mate;
    std::vector<TimeNs>& distances = distances_;
    distances.clear();
    for (const Meeting& meeting : met_) distances.push_back(meeting.distance);
    mate.offset = median(distances);
    std::size_t alike = 0;
    for (const Meeting& meeting : met_) {
      const TimeNs away = std::abs(meeting.distance - mate.offset);
      const TimeNs own =
          vague_ > 0 ? vague_ : end_tolerance(*meeting.own, kEndsTogether, exporter_.sampling);
      if (away <= own && is_alike(*meeting.own, *meeting.other, exporter_.sampling, merged_))
        ++alike;
    }
    // Of a sampled transfer maybe no packet was seen: such rows cannot meet.
    const double all = static_cast<double>(last_ - first_) * presence(other);
    mate.share = static_cast<double>(alike) / all;
    return mate;
  }

 private:
  /// Most rows are longer than the pause that would have ended them.
  static bool lasts_longer(const Track& own, TimeNs inactive) {
    if (inactive <= 0) return false;
    const auto longer = std::ranges::count_if(
        own.rows, [&](const Row& row) { return row.end - row.start > inactive; });
    return longer * 2 > std::ssize(own.rows);
  }
  double presence(const Track& other) const {
    if (exporter_.sampling <= 1) return 1;
    double packets = 0;
    for (const Row& row : other.rows) packets += row.packets;
    return 1 - std::exp(-rate_of_seen(packets / static_cast<double>(other.rows.size()) /
                                      exporter_.sampling));
  }
  /// Tolerance of the track's rows of which several packets were seen: one packet alone does not
  /// tell how long the transfer was.
  TimeNs usual_tolerance(const Track& own) const {
    std::vector<TimeNs> all;
    if (exporter_.sampling > 1)
      for (const Row& row : own.rows)
        if (row.packets > exporter_.sampling)
          all.push_back(end_tolerance(row, kEndsTogether, exporter_.sampling));
    return median(std::move(all));
  }
  void meet(const Track& other) {
    met_.clear();
    auto at = std::ranges::lower_bound(other.rows, own_.rows[first_].end - kApart, {}, &Row::end);
    for (std::size_t i = first_; i < last_; ++i) {
      const Row& row = own_.rows[i];
      const auto away = [&](const Row& one) { return std::abs(one.end - row.end); };
      while (at != other.rows.end() && at + 1 != other.rows.end() && away(at[1]) <= away(*at)) ++at;
      if (at == other.rows.end()) return;
      if (away(*at) < kApart + end_tolerance(row, 0, exporter_.sampling))
        met_.push_back({&row, &*at, at->end - row.end});
    }
  }

  const Track& own_;
  const ExporterSettings& exporter_;
  std::size_t first_ = 0, last_ = 0;
  TimeNs vague_ = 0;
  bool merged_ = false;  ///< a row is several transfers
  std::vector<Meeting> met_;
  std::vector<TimeNs> distances_;
};

/// What the packets of a stream, or of several, show.
struct Scatter {
  double rows = 0, seen = 0;  ///< records, and packets of one that were seen: sums over streams
  double excess = 0;          ///< variance beyond that of sampling
  double size = 0;            ///< squares of the packets that a transfer has on average
  double error = 0;           ///< squares of the standard error of the excess
  double streams = 0;

  void add(const Scatter& other) {
    rows += other.rows;
    seen += other.seen;
    excess += other.excess;
    size += other.size;
    error += other.error;
    streams += other.streams;
  }
  bool varies() const {
    constexpr double kOwn = 0.03, kSigmas = 4.5;
    return excess > kOwn * size + kSigmas * std::sqrt(error);
  }
};

Scatter scatter_of(std::span<const Row> rows, const ExporterSettings& exporter) {
  std::vector<double> seen;
  seen.reserve(rows.size());
  for (const Row& row : rows) seen.push_back(static_cast<double>(row.packets) / exporter.sampling);
  const double middle = mean(seen), rate = rate_of_seen(middle);
  double spread = 0;
  for (const double one : seen) spread += (one - middle) * (one - middle);
  spread /= static_cast<double>(std::max<std::size_t>(1, seen.size() - 1));
  const double usual = middle * (1 + rate - middle);
  const auto count = static_cast<double>(seen.size());
  return {count, middle, spread - usual, rate * rate, usual * usual * 2 / count, 1};
}

/// As many records of the same size, as far as sampling lets that be told.
bool are_alike(const Scatter& one, const Scatter& two) {
  constexpr double kRows = 0.1, kSize = 0.05, kSigmas = 4;
  if (std::abs(one.rows - two.rows) > kRows * std::max(one.rows, two.rows)) return false;
  const double error = std::sqrt(one.seen / one.rows + two.seen / two.rows);
  return std::abs(one.seen - two.seen) < kSize * std::max(one.seen, two.seen) + kSigmas * error;
}

}  // namespace

double rate_of_seen(double seen) {
  constexpr int kRounds = 40;
  double rate = std::max(seen - 1, 1e-3);
  for (int i = 0; i < kRounds; ++i) rate = seen * (1 - std::exp(-rate));
  return rate;
}

TimeNs end_tolerance(const Row& row, TimeNs exact, std::uint32_t sampling) {
  constexpr double kBetween = 3;
  // Two ways of a link differ in speed by some percent; a record that lasts long holds several
  // transfers, of which only the last one counts.
  constexpr TimeNs kShare = 25, kMost = kMillisecond / 2;
  if (sampling <= 1 || row.packets == 0)
    return std::max(exact, std::min(kMost, (row.end - row.start) / kShare));
  return exact + static_cast<TimeNs>(kBetween * sampling *
                                     static_cast<double>(row.end - row.start) / row.packets);
}

std::vector<Mate> find_mates(const std::vector<Track>& tracks, const ExporterSettings& exporter) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> leaving;
  for (std::uint32_t i = 0; i < tracks.size(); ++i) leaving[tracks[i].src].push_back(i);
  std::vector<Mate> mates(tracks.size());
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto candidates = leaving.find(tracks[i].dst);
    if (candidates == leaving.end() || tracks[i].rows.empty()) continue;
    Comparison comparison(tracks[i], exporter);
    Mate& best = mates[i];
    for (const std::uint32_t other : candidates->second)
      if (const Mate mate = comparison.against(tracks[other], other); mate.share > best.share)
        best = mate;
  }
  return mates;
}

std::vector<bool> vary_sampled(const std::vector<Track>& tracks,
                               const std::vector<std::uint32_t>& streams,
                               const ExporterSettings& exporter) {
  std::vector<Scatter> own;
  own.reserve(streams.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_card;
  for (std::uint32_t i = 0; i < streams.size(); ++i) {
    const Track& track = tracks[streams[i]];
    own.push_back(scatter_of(track.rows, exporter));
    for (const std::uint32_t card : {track.src, track.dst}) of_card[card].push_back(i);
  }
  UnionFind sets(streams.size());
  for (const auto& [card, beside] : of_card)
    for (std::size_t one = 0; one < beside.size(); ++one)
      for (std::size_t two = one + 1; two < beside.size(); ++two)
        if (are_alike(own[beside[one]], own[beside[two]])) sets.join(beside[one], beside[two]);
  std::map<std::uint32_t, Scatter> together;
  for (std::uint32_t i = 0; i < streams.size(); ++i) together[sets.find(i)].add(own[i]);
  std::vector<bool> vary(streams.size());
  for (std::uint32_t i = 0; i < streams.size(); ++i) vary[i] = together.at(sets.find(i)).varies();
  return vary;
}

}  // namespace l4::flows
