#include "aggregator/watch/pauses.h"

#include <algorithm>
#include <cmath>

#include "aggregator/job/median.h"
#include "aggregator/numbers/watch.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

constexpr Millis kLongest = std::chrono::days{30};

}  // namespace

void Pauses::add(PauseKind kind, Millis pause) {
  pause = std::clamp(pause, Millis{1}, kLongest);
  History& history = kinds_[place(kind)];
  const auto log = static_cast<float>(std::log(static_cast<double>(pause.count())));
  if (history.logs.size() < kKept)
    history.logs.push_back(log);
  else
    history.logs[history.count % kKept] = log;
  ++history.count;
  history.fresh = false;
  history.largest = std::max(history.largest, pause);
  Millis& largest = largest_[kind.startup ? 0 : 1];
  largest = std::max(largest, pause);
}

Millis Pauses::deadline(PauseKind kind, Millis floor) const {
  const History& history = of(kind);
  if (const Millis warm = warm_[place(kind)];
      warm > Millis{0} && history.count < numbers::watch().pause_known)
    return std::max(2 * std::max(warm, history.largest), (kind.startup ? 2 : 1) * floor);
  const Millis job = largest_[kind.startup ? 0 : 1];
  if (kind.startup || history.count == 0)
    return std::max(numbers::watch().unknown_pauses * job, numbers::watch().first_floors * floor);
  if (history.count < numbers::watch().pause_known)
    return std::max(numbers::watch().unknown_pauses * job, floor);
  const double scatter =
      std::min(scatter_of(history),
               numbers::watch().scatter_pauses * static_cast<double>(history.largest.count()));
  return std::max({Millis{static_cast<std::int64_t>(scatter)}, 2 * history.largest, floor});
}

double Pauses::scatter_of(const History& history) {
  if (history.fresh) return history.scatter;
  std::vector<float> values = history.logs;
  const float median = job::mean_median(values);
  for (float& value : values) value = std::abs(value - median);
  const double sigma = std::max<double>(numbers::watch().pause_sigma_min, job::mean_median(values));
  history.scatter = std::exp(static_cast<double>(median) + numbers::watch().pause_sigmas * sigma);
  history.fresh = true;
  return history.scatter;
}

bool Pauses::may_confirm(PauseKind kind) const {
  return !kind.startup && of(kind).count > 0;
}

bool Pauses::is_long(PauseKind kind, Millis pause) const {
  if (pause < numbers::watch().pause_long_over || seen(kind) < numbers::watch().pause_long_known)
    return false;
  const Millis usual = typical(kind);
  const auto ratio = static_cast<double>(pause.count()) / static_cast<double>(usual.count());
  if (ratio < numbers::watch().pause_long_ratio || pause < usual + numbers::watch().pause_long_over)
    return false;
  const double limit = std::log(numbers::watch().pause_alike * static_cast<double>(pause.count()));
  const std::vector<float>& logs = of(kind).logs;
  const auto alike = std::ranges::count_if(logs, [&](float log) { return log >= limit; });
  return static_cast<double>(alike) <=
         std::max(2.0, numbers::watch().pause_long_share * static_cast<double>(logs.size()));
}

Millis Pauses::typical(PauseKind kind) const {
  std::vector<float> values = of(kind).logs;
  if (values.empty()) return Millis{0};
  return Millis{static_cast<std::int64_t>(std::exp(static_cast<double>(job::mean_median(values))))};
}

template <class Archive, class Self>
void Pauses::persist(Archive& archive, Self& self) {
  for (auto& history : self.kinds_) {
    archive(history.count, history.largest);
    archive.list(history.logs, sizeof(double), [&](auto& log) { archive(log); });
    archive.require(history.logs.size() == std::min(history.count, kKept));
  }
  for (auto& largest : self.largest_) archive(largest);
}

void Pauses::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void Pauses::load(ByteReader& in) {
  saved::Reader archive(in);
  kinds_ = {};
  persist(archive, *this);
}

}  // namespace l4::watch
