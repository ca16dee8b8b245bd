// A program's figures as one answer of its page: the present totals, each under the program's
// prefix.
//
// Made anew for each answer; names and labels as in metrics.h. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/base/time.h"
#include "common/metrics/metrics.h"
#include "common/metrics/process.h"

namespace l4::metrics {

/// The labels of a series, if it has any.
struct Label {
  const char* name = nullptr;
  std::string_view value;
  const char* second = nullptr;
  std::string_view second_value = {};
};

class Families {
 public:
  /// `prefix` with its closing underscore.
  explicit Families(std::string prefix) : prefix_(std::move(prefix)) {}

  template <class Number>
  void counter(const char* name, const char* help, Number total, Label label = {}) {
    made_.counter(prefix_ + name, help, labels(label)).reach(static_cast<double>(total));
  }
  template <class Number>
  void gauge(const char* name, const char* help, Number value, Label label = {}) {
    made_.gauge(prefix_ + name, help, labels(label)).set(static_cast<double>(value));
  }
  /// See Metrics::allow.
  void allow(const char* name, std::size_t series) { made_.allow(prefix_ + name, series); }
  /// Processor time, memory and files of the process itself.
  void process() { add_process(made_, prefix_); }
  std::string text() const { return made_.render(); }

 private:
  static Labels labels(const Label& label) {
    if (label.name == nullptr) return {};
    Labels labels{{label.name, std::string(label.value)}};
    if (label.second != nullptr) labels.emplace_back(label.second, label.second_value);
    return labels;
  }

  std::string prefix_;
  Metrics made_;
};

inline double seconds(Millis span) {
  return static_cast<double>(span.count()) / 1000;
}

}  // namespace l4::metrics
