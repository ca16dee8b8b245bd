// Stand-in of the real room until it is merged.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/job/job_state.h"

namespace l4::watch {

enum class Cause : std::uint8_t {
  error_line,
  process_left,
  process_stopped,
  silent,
  node_lost,
  slower,
  ended,
  went_on,
  asked
};

struct Trigger {
  Cause cause = Cause::asked;
  TimeMs evidence{};
  std::string node;
  std::optional<Rank> rank;
  std::string detail;
};

struct Options {
  Millis floor{60'000};
};

class JobWatch {
 public:
  explicit JobWatch(Options options) : options_(options) {}
  void applied(const job::JobState&, const wire::Batch& batch, TimeMs arrival) {
    for (const auto& one : batch.templates) {
      if (one.level >= Level::error)
        due_.push_back({Cause::error_line, arrival, batch.agent, {}, one.text});
      if ((one.marks & wire::kMarkFinished) != 0)
        due_.push_back({Cause::ended, arrival, batch.agent, {}, one.text});
    }
    for (const auto& segment : batch.segments)
      if (segment.iteration && segment.boundary == wire::Boundary::completed) {
        if (failing_) due_.push_back({Cause::went_on, arrival, batch.agent, {}, {}});
        failing_ = said_ = false;
        progress_ = arrival;
      }
  }
  void agent_lost(const std::string& agent, TimeMs at) {
    due_.push_back({Cause::node_lost, at, agent, {}, {}});
  }
  void agent_back(const std::string&, TimeMs) {}
  std::vector<Trigger> due(TimeMs now) {
    if (progress_ && !said_ && now - *progress_ > options_.floor) {
      said_ = true;
      due_.push_back({Cause::silent, *progress_, {}, {}, {}});
    }
    return std::exchange(due_, {});
  }
  std::optional<TimeMs> next_look() const {
    return progress_ && !said_ ? std::optional(*progress_ + options_.floor) : std::nullopt;
  }
  void diagnosed(const diagnose::Report& report, TimeMs) {
    failing_ = report.verdict.state != State::healthy && report.verdict.state != State::finished;
  }

 private:
  Options options_;
  std::vector<Trigger> due_;
  std::optional<TimeMs> progress_;
  bool said_ = false, failing_ = false;
};

}  // namespace l4::watch
