#include "aggregator/alert/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::alert {

Trial::Trial(std::vector<TrialRow> rows, TimeMs now, TrialThen then)
    : begun_(now), then_(std::move(then)), rows_(std::move(rows)), waits_(rows_.size(), true) {}

/// True if this call is the one that ends it; `rows` gets the result.
bool Trial::finish(std::vector<TrialRow>& rows) {
  if (over_) return false;
  over_ = true;
  rows = rows_;
  return true;
}

void Trial::done(std::size_t row, const Result<void>& result, Millis lasted) {
  std::vector<TrialRow> rows;
  {
    const MutexLock lock(mutex_);
    if (over_ || !waits_.at(row)) return;
    waits_[row] = false;
    rows_[row].took = result.has_value();
    rows_[row].why_not = result ? std::string() : result.error().text();
    rows_[row].lasted = lasted;
    if (std::ranges::find(waits_, true) != waits_.end() || !finish(rows)) return;
  }
  then_(std::move(rows));
}

bool Trial::expire(TimeMs now) {
  std::vector<TrialRow> rows;
  {
    const MutexLock lock(mutex_);
    if (over_) return true;
    if (now - begun_ < kMost) return false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!waits_[i]) continue;
      rows_[i].why_not = fmt::format("no answer within {}", to_human(kMost));
      rows_[i].lasted = kMost;
    }
    finish(rows);
  }
  then_(std::move(rows));
  return true;
}

std::string to_line(const std::vector<TrialRow>& rows, std::string_view who) {
  std::string line = fmt::format("test alert, asked for by {}:", who);
  for (const TrialRow& row : rows)
    line += fmt::format("{} {} {}", &row == rows.data() ? "" : ";", row.sink,
                        row.took ? "took it" : "did not take it: " + row.why_not);
  return serve::harmless(line);
}

}  // namespace l4::alert
