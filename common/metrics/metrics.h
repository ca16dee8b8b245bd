// Counters and gauges of a program, and their text for Prometheus.
// Place in the flow: rooms count for themselves; main registers a series for each count, by name
// and help, and /metrics renders all. Thread-safe. A Counter or Gauge is a handle: copied freely,
// valid as long as its Metrics. Names have a prefix of their program (l4_aggregator_), base units,
// and _total at the end of counters. Labels are words of closed lists, never ranks, nodes or
// templates. At most 64 series for each name, or as many as were allowed for it, and 512 names are
// shown; l4_metrics_left_out counts further series.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
}  // namespace prometheus

namespace l4::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void add(double more = 1);
  /// Raises the counter to `total`, for counts kept elsewhere; does nothing if `total` is smaller.
  void reach(double total);

 private:
  friend class Metrics;
  explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  void set(double value);
  void add(double more);

 private:
  friend class Metrics;
  explicit Gauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  prometheus::Gauge* gauge_;
};

class Metrics {
 public:
  /// The content type of render() for HTTP.
  static constexpr auto kContentType = "text/plain; version=0.0.4; charset=utf-8";

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// The same name and labels give the same series. A name that Prometheus does not allow, or that
  /// a series of the other kind has, is a broken invariant: std::invalid_argument.
  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});

  /// Allows this many series of the name; the caller bounds their labels.
  void allow(const std::string& name, std::size_t series);

  /// All series in Prometheus' text format, names in order.
  std::string render() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::metrics
