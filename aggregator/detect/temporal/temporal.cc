#include "aggregator/detect/temporal/temporal.h"

#include <algorithm>
#include <utility>

#include "aggregator/job/median.h"
#include "aggregator/numbers/temporal.h"

namespace l4::detect::temporal {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// Half of the values or more are at least this.
double lower_median(std::vector<double> values) {
  return job::lower_median(values);
}

Sequence keep_ends(Sequence symbols, std::size_t length_max) {
  if (symbols.size() <= length_max) return symbols;
  const auto half = static_cast<std::ptrdiff_t>(length_max / 2);
  symbols.erase(symbols.begin() + half, symbols.end() - half);
  return symbols;
}

}  // namespace

struct TemporalScorer::Candidate {
  std::uint32_t stream = 0;
  PatternRef pattern;
  double seconds = kUnknownDuration;
  bool open = false;
  bool scored = false;  // false while the stream has too little history
  bool alarmed = false;
  std::vector<double> extra;  // cost of each position
  std::vector<Symbol> lost;   // steady events of this stream that are not there
  Nearest history;            // nearest pattern of earlier iterations
  Nearest best;               // nearest of all, peers included
  double limit = 0;
};

TemporalScorer::TemporalScorer(TemporalOptions options)
    : options_(std::move(options)), shared_(options_.shared) {
  for (std::uint32_t event : options_.normal) costs_.set_normal(event);
}

TemporalScorer::Candidate TemporalScorer::prepare(const Observation& observation) {
  if (observation.stream >= streams_.size()) streams_.resize(observation.stream + 1);
  Sequence symbols = collapse_runs(observation.events);
  const std::uint64_t hash = hash_sequence(symbols);
  Candidate one;
  one.stream = observation.stream;
  one.seconds = observation.seconds;
  one.open = observation.open;
  one.scored =
      streams_[observation.stream].iterations >= std::max<std::size_t>(1, options_.history_min);
  for (Symbol& symbol : symbols) symbol = costs_.intern(symbol);
  one.pattern = shared_.find(hash);
  if (!one.pattern) {
    symbols = keep_ends(std::move(symbols), options_.length_max);
    one.pattern = std::make_shared<const Pattern>(Pattern{hash, std::move(symbols)});
  }
  return one;
}

std::vector<TemporalScorer::Reference> TemporalScorer::history_of(const Stream& stream) const {
  std::vector<Reference> references;
  for (const auto& pattern : stream.patterns.recent()) references.push_back({pattern, true});
  for (const auto& one : stream.patterns.prototypes()) references.push_back({one.pattern, true});
  std::size_t compared = 0;
  for (const PatternRef& pattern : shared_.latest()) {
    if (compared++ == options_.shared_compared) break;
    references.push_back({pattern});
  }
  return references;
}

std::vector<TemporalScorer::Reference> TemporalScorer::peers_of(const Candidate& one,
                                                                std::span<const Candidate> all,
                                                                std::int64_t iteration) const {
  std::vector<Reference> peers;
  std::uint64_t state = mix(options_.seed ^ mix(static_cast<std::uint64_t>(iteration)) ^
                            mix(std::uint64_t{one.stream} << 32));
  constexpr std::size_t kMany = 256;
  if (all.size() > kMany) {
    // If few of many are wanted, streams are drawn until enough are found; the others cost nothing.
    std::vector<std::size_t> drawn;
    for (std::size_t tries = 0; tries < 4 * options_.peers; ++tries) {
      state = mix(state + 0x9E3779B97F4A7C15);
      const std::size_t i = state % all.size();
      if (all[i].stream == one.stream || all[i].open || std::ranges::find(drawn, i) != drawn.end())
        continue;
      drawn.push_back(i);
      peers.push_back({all[i].pattern, false, &streams_[all[i].stream].events});
      if (peers.size() == options_.peers) break;
    }
    return peers;
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].stream != one.stream && !all[i].open) others.push_back(i);
  }
  for (std::size_t i = 0; i < others.size() && i < options_.peers; ++i) {
    state = mix(state + 0x9E3779B97F4A7C15);
    std::swap(others[i], others[i + state % (others.size() - i)]);
    const Candidate& peer = all[others[i]];
    peers.push_back({peer.pattern, false, &streams_[peer.stream].events});
  }
  return peers;
}

std::vector<Symbol> TemporalScorer::unseen(const Candidate& one, const Reference& reference) const {
  std::vector<Symbol> result;
  if (reference.own || one.open) return result;
  for (Symbol symbol : one.lost) {
    const bool excused = reference.witness && EventCosts::steady(*reference.witness, symbol);
    const bool compared =
        std::ranges::find(reference.pattern->symbols, symbol) != reference.pattern->symbols.end();
    if (!excused && !compared) result.push_back(symbol);
  }
  return result;
}

TemporalScorer::Nearest TemporalScorer::nearest(const Candidate& one,
                                                const std::vector<Reference>& references,
                                                double below) {
  Nearest best{below, nullptr, {}};
  std::vector<std::pair<std::uint64_t, std::size_t>> done;
  for (const Reference& reference : references) {
    std::vector<Symbol> lost = unseen(one, reference);
    const std::pair key{reference.pattern->hash, lost.size()};
    if (std::ranges::find(done, key) != done.end()) continue;
    done.push_back(key);
    double penalty = 0;
    for (Symbol symbol : lost) penalty += costs_.lost_cost(symbol);
    if (penalty >= best.distance) continue;
    double distance = 0;
    if (reference.pattern->hash != one.pattern->hash) {
      const Sequence& y = reference.pattern->symbols;
      const auto missing = costs_.missing(streams_[one.stream].events, y, one.pattern->symbols);
      work_ += y.size() * one.pattern->symbols.size();
      distance = directional_distance({one.pattern->symbols, one.extra}, {y, missing},
                                      {.open_end = one.open, .below = best.distance - penalty});
    }
    distance += penalty;
    if (distance < best.distance) best = {distance, reference.pattern, std::move(lost)};
    if (best.distance <= 0) break;
  }
  return best;
}

void TemporalScorer::compare(Candidate& one, std::span<const Candidate> all,
                             std::int64_t iteration) {
  const Stream& stream = streams_[one.stream];
  one.limit = threshold(stream);
  one.lost = costs_.lost(stream.events, one.pattern->symbols);
  work_ += costs_.events();
  const std::uint64_t hash = one.pattern->hash;
  const bool excusing = one.lost.empty() || one.open;
  if (stream.patterns.contains(hash) || (excusing && shared_.find(hash))) {
    one.history = one.best = {0, one.pattern, {}};
    return;
  }
  one.extra = costs_.extra(stream.events, one.pattern->symbols);
  one.history = nearest(one, history_of(stream), std::numeric_limits<double>::infinity());
  Nearest peer = nearest(one, peers_of(one, all, iteration), one.history.distance);
  one.best = peer.reference ? std::move(peer) : one.history;
}

double TemporalScorer::threshold(const Stream& stream) const {
  double mean = 0, square = 0;
  for (double score : stream.scores) mean += score;
  if (!stream.scores.empty()) mean /= static_cast<double>(stream.scores.size());
  for (double score : stream.scores) square += (score - mean) * (score - mean);
  if (!stream.scores.empty()) square /= static_cast<double>(stream.scores.size());
  const double seen = std::max(1.0, costs_.observations());
  const double sigma = std::max(
      std::sqrt(square), std::min(options_.sigma_min, std::log(seen) / numbers::temporal().sigmas));
  const double horizon = std::max(1.0, std::min(options_.horizon, iterations_));
  return std::max(mean + numbers::temporal().sigmas * sigma,
                  std::log(static_cast<double>(streams_.size()) * horizon));
}

Anomaly TemporalScorer::describe(const Candidate& one, std::int64_t iteration) {
  const Sequence& x = one.pattern->symbols;
  const Sequence& y = one.best.reference->symbols;
  const auto missing = costs_.missing(streams_[one.stream].events, y, x);
  const Alignment alignment = align({x, one.extra}, {y, missing}, one.open);
  Anomaly found{AnomalyKind::sequence, one.stream, iteration, one.best.distance, one.limit, {}, {}};
  bool suspicious =
      alignment.missing_cost > numbers::temporal().intact_max || !one.best.unseen.empty();
  for (std::size_t position : alignment.extra) {
    const std::uint32_t event = costs_.event(x[position]);
    if (one.extra[position] < numbers::temporal().shown_min) continue;
    found.extra.push_back(event);
    suspicious = suspicious || options_.suspicious.contains(event);
  }
  for (std::size_t position : alignment.missing) {
    if (missing[position] >= numbers::temporal().shown_min)
      found.missing.push_back(costs_.event(y[position]));
  }
  for (Symbol symbol : one.best.unseen) found.missing.push_back(costs_.event(symbol));
  if (!suspicious) found.kind = AnomalyKind::novelty;
  return found;
}

double TemporalScorer::slowness(const Candidate& one) const {
  const auto* prototype = streams_[one.stream].patterns.find(one.pattern->hash);
  const bool known = prototype && prototype->log_seconds.size() >= options_.slow_history_min;
  if (!known || one.open || !(one.seconds > 0) || !std::isfinite(one.seconds)) {
    return kUnknownDuration;
  }
  std::vector<double> earlier(prototype->log_seconds.begin(), prototype->log_seconds.end());
  const double usual = lower_median(earlier);
  for (double& value : earlier) value = std::abs(value - usual);
  const double spread = std::max(options_.slow_spread_min, 1.4826 * lower_median(earlier));
  if (one.seconds - std::exp(usual) < options_.slow_excess_min) return 0;
  return (std::log(one.seconds) - usual) / spread;
}

void TemporalScorer::judge_duration(std::span<const Candidate> all, std::int64_t iteration,
                                    TemporalFindings& out) const {
  std::vector<std::pair<std::uint32_t, double>> slow;
  std::vector<double> values;
  for (const Candidate& one : all) {
    const double value = slowness(one);
    if (std::isnan(value)) continue;
    values.push_back(value);
    if (value > options_.slow_limit && !one.alarmed) slow.emplace_back(one.stream, value);
  }
  if (slow.empty()) return;
  // Ranks wait for each other: where most are slow, none of them is to blame.
  const double usual = lower_median(values);
  const double limit = options_.slow_limit;
  if (usual > limit / 2) {
    if (usual > limit) {
      out.notes.push_back({AnomalyKind::duration, kAllStreams, iteration, usual, limit, {}, {}});
    }
    return;
  }
  for (const auto& [stream, value] : slow) {
    out.alarms.push_back({AnomalyKind::duration, stream, iteration, value, limit, {}, {}});
  }
}

void TemporalScorer::judge_job(std::span<const Candidate> all, std::int64_t iteration,
                               TemporalFindings& out) {
  IterationScore score{iteration, 0, 0};
  std::vector<double> novelty;
  for (const Candidate& one : all) {
    if (!one.scored) continue;
    score.score = std::max(score.score, one.best.distance);
    novelty.push_back(one.history.distance);
  }
  if (!novelty.empty()) score.novelty = lower_median(novelty);
  out.iterations.push_back(score);
  if (novelty.size() < 2 || score.novelty <= options_.phase_change) return;
  Anomaly change{AnomalyKind::phase_change, kAllStreams, iteration, score.novelty,
                 options_.phase_change,     {},          {}};
  for (const Candidate& one : all) {
    if (!one.scored || one.history.distance < score.novelty) continue;
    Candidate against_past = one;
    against_past.best = one.history;
    const Anomaly example = describe(against_past, iteration);
    change.missing = example.missing;
    change.extra = example.extra;
    break;
  }
  out.notes.push_back(std::move(change));
}

void TemporalScorer::learn(const Candidate& one) {
  if (one.open) return;
  Stream& stream = streams_[one.stream];
  if (one.scored) {
    stream.scores.push_back(std::min(one.best.distance, one.limit));
    if (stream.scores.size() > options_.score_window) stream.scores.erase(stream.scores.begin());
  }
  // A sequence that caused an alarm is known to its own stream from now on, but excuses no other
  // stream.
  stream.patterns.see(one.pattern, one.seconds, options_.recent, options_.prototypes);
  if (!one.alarmed) shared_.see(one.pattern);
  costs_.learn(stream.events, one.pattern->symbols);
  work_ += costs_.events();
  ++stream.iterations;
}

TemporalFindings TemporalScorer::observe(std::int64_t iteration,
                                         std::span<const Observation> observations) {
  std::vector<Candidate> all;
  all.reserve(observations.size());
  for (const Observation& observation : observations) all.push_back(prepare(observation));
  TemporalFindings out;
  for (Candidate& one : all) {
    one.scored = one.scored && !exhausted();
    if (!one.scored) continue;
    compare(one, all, iteration);
    if (one.best.distance <= one.limit) continue;
    Anomaly found = describe(one, iteration);
    one.alarmed = found.kind == AnomalyKind::sequence;
    (one.alarmed ? out.alarms : out.notes).push_back(std::move(found));
  }
  judge_job(all, iteration, out);
  judge_duration(all, iteration, out);
  for (const Candidate& one : all) learn(one);
  ++iterations_;
  return out;
}

}  // namespace l4::detect::temporal
