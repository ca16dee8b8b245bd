#include "common/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "common/base/mutex.h"

namespace l4::metrics {
namespace {

constexpr std::size_t kNamesMax = 512;
constexpr std::size_t kSeriesMax = 64;

/// One kind of series, by name.
template <class T>
struct Kind {
  struct Name {
    prometheus::Family<T>* family = nullptr;
    std::size_t series = 0;
  };
  std::map<std::string, Name> names;
  std::map<std::pair<std::string, Labels>, std::unique_ptr<T>> hidden;
};

}  // namespace

struct Metrics::Impl {
  mutable Mutex mutex;
  prometheus::Registry registry;
  Kind<prometheus::Counter> counters L4_GUARDED_BY(mutex);
  Kind<prometheus::Gauge> gauges L4_GUARDED_BY(mutex);
  std::map<std::string, std::size_t> allowed L4_GUARDED_BY(mutex);  // series, by name

  Impl() {
    // This series is registered first, so that the bounds cannot leave it out.
    left_out = &prometheus::BuildGauge()
                    .Name("l4_metrics_left_out")
                    .Help("Series beyond the bounds that are not shown here")
                    .Register(registry)
                    .Add({});
  }

  template <class T>
  T& series(Kind<T>& kind, bool other_kind, prometheus::detail::Builder<T> builder,
            const std::string& name, const std::string& help, const Labels& labels)
      L4_REQUIRES(mutex) {
    if (other_kind) throw std::invalid_argument(name + " is there as another kind");
    auto found = kind.names.find(name);
    if (found == kind.names.end()) {
      if (counters.names.size() + gauges.names.size() >= kNamesMax) return hide(kind, name, labels);
      auto& family = builder.Name(name).Help(help).Register(registry);
      found = kind.names.emplace(name, typename Kind<T>::Name{&family}).first;
    }
    const prometheus::Labels named(labels.begin(), labels.end());
    if (!found->second.family->Has(named)) {
      const auto more = allowed.find(name);
      if (found->second.series >= (more == allowed.end() ? kSeriesMax : more->second))
        return hide(kind, name, labels);
      ++found->second.series;
    }
    return found->second.family->Add(named);
  }

 private:
  template <class T>
  T& hide(Kind<T>& kind, const std::string& name, const Labels& labels) L4_REQUIRES(mutex) {
    // Once there are very many hidden series of a kind, all new ones share one series.
    auto& series =
        kind.hidden.size() < kNamesMax ? kind.hidden[{name, labels}] : kind.hidden.begin()->second;
    if (!series) {
      series = std::make_unique<T>();
      left_out->Increment();
    }
    return *series;
  }

  prometheus::Gauge* left_out = nullptr;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  const MutexLock lock(impl_->mutex);
  return Counter(impl_->series(impl_->counters, impl_->gauges.names.contains(name),
                               prometheus::BuildCounter(), name, help, labels));
}

Gauge Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  const MutexLock lock(impl_->mutex);
  return Gauge(impl_->series(impl_->gauges, impl_->counters.names.contains(name),
                             prometheus::BuildGauge(), name, help, labels));
}

void Metrics::allow(const std::string& name, std::size_t series) {
  const MutexLock lock(impl_->mutex);
  impl_->allowed[name] = series;
}

std::string Metrics::render() const {
  std::vector<prometheus::MetricFamily> all = impl_->registry.Collect();
  std::ranges::sort(all, {}, &prometheus::MetricFamily::name);
  return prometheus::TextSerializer().Serialize(all);
}

void Counter::add(double more) {
  counter_->Increment(more);
}

void Counter::reach(double total) {
  static Mutex mutex;  // two threads would both add the difference
  const MutexLock lock(mutex);
  if (const double missing = total - counter_->Value(); missing > 0) counter_->Increment(missing);
}

void Gauge::set(double value) {
  gauge_->Set(value);
}

void Gauge::add(double more) {
  gauge_->Increment(more);
}

}  // namespace l4::metrics
