#include "aggregator/detect/nics/course.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregator/numbers/nics.h"

namespace l4::detect::nics {
namespace {

constexpr std::size_t kTenths = wire::Tenths::kCount;
/// Courses are compared at full length only if a short one shows no period: the cost is the square.
constexpr std::size_t kShort = 1200, kLong = 6000;

void add_second(const cards::NicSecond& second, float* to) {
  double levels = 0;
  for (std::size_t i = 0; i < kTenths; ++i)
    if (second.tenths.is_busy(i)) levels += second.tenths.at(i);
  const double each = levels > 0 ? second.bytes() / levels : 0;
  for (std::size_t i = 0; i < kTenths; ++i)
    to[i] = second.tenths.is_known(i) ? static_cast<float>(second.tenths.at(i) * each)
                                      : Course::kUnknown;
}

/// Sums of products at a lag, over pairs of known tenths: the mean is already taken out, and
/// unknown tenths are 0 with weight 0.
class Likeness {
 public:
  explicit Likeness(std::span<const float> tenths) {
    double sum = 0, known = 0;
    for (const float tenth : tenths)
      if (tenth != Course::kUnknown) sum += tenth, ++known;
    const auto mean = static_cast<float>(known > 0 ? sum / known : 0);
    values_.reserve(tenths.size());
    for (const float tenth : tenths) {
      values_.push_back(tenth == Course::kUnknown ? 0 : tenth - mean);
      power_ += double{values_.back()} * double{values_.back()};
    }
    known_ = known;
  }

  double known() const { return known_; }
  double power() const { return power_; }
  std::size_t size() const { return values_.size(); }
  /// Autocorrelation at the lag, of as many pairs as there are.
  double at(std::size_t lag) const {
    if (lag >= values_.size() || power_ <= 0) return 0;
    const float sum = std::inner_product(values_.begin(), values_.end() - static_cast<long>(lag),
                                         values_.begin() + static_cast<long>(lag), 0.0F);
    const auto size = static_cast<double>(values_.size());
    return double{sum} / power_ * size / (size - static_cast<double>(lag));
  }

 private:
  std::vector<float> values_;
  double power_ = 0, known_ = 0;
};

/// Where a parabola through three values has its top, from -.5 to .5 beside the middle one.
double top_of(double before, double middle, double after) {
  const double bend = before - 2 * middle + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0;
}

bool is_top(const std::vector<double>& likeness, std::size_t lag) {
  return likeness[lag] >= likeness[lag - 1] && likeness[lag] > likeness[lag + 1];
}

/// Follows the period to its later multiples, as far as they stay alike.
double sharpened(const Likeness& course, double lag, double likeness) {
  double period = lag;
  for (std::size_t multiple = 2; multiple <= numbers::nics().multiples_max; multiple *= 2) {
    const double expected = period * static_cast<double>(multiple);
    const double most = static_cast<double>(course.size()) * numbers::nics().followed_part;
    if (expected + numbers::nics().followed_margin > most) break;
    const double reach =
        std::clamp(period * numbers::nics().reach_part, 2.0, numbers::nics().reach_max);
    const auto from = static_cast<std::size_t>(std::max(expected - reach, 1.0));
    const auto to = static_cast<std::size_t>(expected + reach);
    std::size_t best = from;
    double most_alike = -1;
    for (std::size_t at = from; at <= to; ++at)
      if (const double alike = course.at(at); alike > most_alike) most_alike = alike, best = at;
    if (most_alike < likeness * numbers::nics().followed_likeness) break;
    const double top = top_of(course.at(best - 1), most_alike, course.at(best + 1));
    period = (static_cast<double>(best) + top) / static_cast<double>(multiple);
  }
  return period;
}

/// Means of `width` tenths; unknown ones count as idle.
std::vector<float> smoothed(std::span<const float> tenths, std::size_t width) {
  std::vector<float> smooth(tenths.size());
  double sum = 0;
  const auto value = [&](std::size_t i) { return std::max(tenths[i], 0.0F); };
  for (std::size_t i = 0; i < tenths.size() + width / 2; ++i) {
    if (i < tenths.size()) sum += double{value(i)};
    if (i >= width) sum -= double{value(i - width)};
    if (i >= width / 2)
      smooth[i - width / 2] = static_cast<float>(sum / static_cast<double>(width));
  }
  return smooth;
}

/// Follows the bursts of single steps, each where the one before lets expect it.
class StepWalk {
 public:
  StepWalk(std::span<const float> tenths, double lag)
      : tenths_(tenths),
        lag_(lag),
        smooth_(
            smoothed(tenths, std::max<std::size_t>(
                                 1, static_cast<std::size_t>(lag / numbers::nics().smooth_part)))) {
    if (!smooth_.empty()) least_ = numbers::nics().burst_least * *std::ranges::max_element(smooth_);
  }

  /// Mean length of the steps between bursts that follow each other; empty: they are few.
  std::optional<double> mean() {
    walk(1);
    return all_.count >= numbers::nics().steps_least ? std::optional(all_.length()) : std::nullopt;
  }

  /// Nearly every step has its burst, and those of every `many`-th step are like the others in
  /// length and in bytes: `many` of them are no step.
  bool are_alike(std::size_t many) {
    walk(many);
    const double expected = static_cast<double>(tenths_.size()) / lag_ - 1;
    if (all_.count < numbers::nics().steps_least * static_cast<double>(many) ||
        all_.count < numbers::nics().alike_steps * expected)
      return false;
    return std::ranges::all_of(phases_, [&](const Steps& phase) {
      return phase.count > 0 &&
             std::abs(phase.length() / all_.length() - 1) < numbers::nics().alike_length_off &&
             std::abs(phase.size() / all_.size() - 1) < numbers::nics().alike_bytes_off;
    });
  }

 private:
  struct Burst {
    double middle = 0;  ///< of its bytes, in tenths
    double bytes = 0;
  };

  /// Steps that were found, each with the burst at its end.
  struct Steps {
    double sum = 0, bytes = 0, count = 0;
    void add(const Burst& from, const Burst& to) {
      sum += to.middle - from.middle;
      bytes += to.bytes;
      ++count;
    }
    double length() const { return sum / count; }
    double size() const { return bytes / count; }
  };

  /// Collects the steps, and apart every `many`-th one.
  void walk(std::size_t many) {
    all_ = {};
    phases_.assign(many, {});
    auto last = burst_in(0, lag_);
    double at = 0;
    for (std::size_t step = 0; at + lag_ < static_cast<double>(tenths_.size()); ++step) {
      if (!last) {
        at += lag_;
        last = burst_in(at, at + lag_);
        continue;
      }
      const auto next = burst_in(last->middle + numbers::nics().step_early * lag_,
                                 last->middle + numbers::nics().step_late * lag_);
      at = next ? next->middle : last->middle + lag_;
      if (next && is_known(last->middle, next->middle)) {
        all_.add(*last, *next);
        phases_[step % many].add(*last, *next);
      }
      last = next;
    }
  }

  /// The bytes around the highest place between two times.
  std::optional<Burst> burst_in(double from, double to) const {
    const auto first = static_cast<std::size_t>(std::max(from, 0.0));
    const auto end = std::min(static_cast<std::size_t>(std::max(to, 0.0)) + 1, smooth_.size());
    if (first >= end) return std::nullopt;
    const auto best = std::max_element(smooth_.begin() + static_cast<std::ptrdiff_t>(first),
                                       smooth_.begin() + static_cast<std::ptrdiff_t>(end));
    if (*best < least_) return std::nullopt;
    const auto top = static_cast<std::size_t>(best - smooth_.begin());
    const auto reach = static_cast<std::size_t>(std::max(lag_ / numbers::nics().burst_part, 1.0));
    double sum = 0, weighed = 0;
    for (std::size_t i = top - std::min(top, reach); i <= top + reach && i < tenths_.size(); ++i) {
      const double bytes = std::max(tenths_[i], 0.0F);
      sum += bytes;
      weighed += bytes * (static_cast<double>(i) + 0.5);
    }
    return sum > 0 ? std::optional(Burst{weighed / sum, sum}) : std::nullopt;
  }
  bool is_known(double from, double to) const {
    const auto part =
        tenths_.subspan(static_cast<std::size_t>(from),
                        static_cast<std::size_t>(to) - static_cast<std::size_t>(from));
    return std::ranges::find(part, Course::kUnknown) == part.end();
  }

  std::span<const float> tenths_;
  double lag_;
  std::vector<float> smooth_;
  float least_ = 0;
  Steps all_;
  std::vector<Steps> phases_;
};

/// Of few steps two, or three, may be more alike than one by chance.
double single_step(std::span<const float> tenths, double found, double least) {
  for (std::size_t many = numbers::nics().alike_most; many > 1; --many) {
    const double part = found / static_cast<double>(many);
    if (part >= least && StepWalk(tenths, part).are_alike(many)) return part;
  }
  return found;
}

std::optional<Period> period_within(std::span<const float> tenths, const PeriodOptions& options) {
  const Likeness course(tenths);
  const auto size = static_cast<double>(course.size());
  if (course.known() < options.known_min * size || course.power() <= 0) return std::nullopt;
  const auto least = static_cast<std::size_t>(std::max(2.0, options.least_s * kTenths));
  const auto most = static_cast<std::size_t>(
      std::min(options.most_s * kTenths, size / numbers::nics().periods_fit));
  if (most < least + 2) return std::nullopt;
  std::vector<double> likeness(most + 1);
  for (std::size_t lag = least - 1; lag <= most; ++lag) likeness[lag] = course.at(lag);
  double best = 0;
  for (std::size_t lag = least; lag < most; ++lag)
    if (is_top(likeness, lag)) best = std::max(best, likeness[lag]);
  if (best < options.likeness_min) return std::nullopt;
  for (std::size_t lag = least; lag < most; ++lag) {
    if (!is_top(likeness, lag) || likeness[lag] < options.likeness_part * best) continue;
    const double top = top_of(likeness[lag - 1], likeness[lag], likeness[lag + 1]);
    double found = sharpened(course, static_cast<double>(lag) + top, likeness[lag]);
    found = single_step(tenths, found, static_cast<double>(least));
    // Steps of varying length are alike only over a few multiples: they are followed one by one.
    const auto walked = StepWalk(tenths, found).mean();
    if (walked && std::abs(*walked / found - 1) < numbers::nics().walked_off_max) found = *walked;
    return Period{found / kTenths, std::min(likeness[lag], 1.0)};
  }
  return std::nullopt;
}

}  // namespace

Course course_of(const cards::NicHistory& nic, TimeMs from, std::size_t seconds_max) {
  Course course;
  if (nic.seconds.empty()) return course;
  const std::uint32_t end = nic.seconds.back().second + 1;
  const auto since = std::max<std::int64_t>(from.time_since_epoch().count() / 1000, 0);
  const auto oldest =
      std::max({static_cast<std::int64_t>(nic.seconds.front().second), since,
                static_cast<std::int64_t>(end) - static_cast<std::int64_t>(seconds_max)});
  if (oldest >= end) return course;
  const auto first = static_cast<std::uint32_t>(oldest);
  course.begin = TimeMs{std::chrono::seconds{first}};
  course.tenths.assign((end - first) * kTenths, Course::kUnknown);
  for (auto at = nic.seconds.rbegin(); at != nic.seconds.rend() && at->second >= first; ++at)
    add_second(*at, course.tenths.data() + (at->second - first) * kTenths);
  return course;
}

std::optional<Period> period_of(std::span<const float> tenths, const PeriodOptions& options) {
  const auto last = [&](std::size_t many) { return tenths.last(std::min(many, tenths.size())); };
  if (const auto found = period_within(last(kShort), options)) return found;
  // Short bursts whose distance varies by more than they last are alike only when smoothed.
  for (const std::size_t width : {3U, 7U, 15U}) {
    PeriodOptions smooth = options;
    smooth.least_s = std::max(options.least_s,
                              numbers::nics().smooth_widths * static_cast<double>(width) / kTenths);
    if (const auto found = period_within(smoothed(last(kShort), width), smooth)) return found;
  }
  return tenths.size() > kShort ? period_within(last(kLong), options) : std::nullopt;
}

}  // namespace l4::detect::nics
