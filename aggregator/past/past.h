// Questions about the past of a job, and their answers.
//
// Flow: snapshot_api.cc -> Aggregator::past -> PastDesk. Plain values.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "aggregator/store/record.h"
#include "common/base/time.h"

namespace l4::past {

struct PastOptions {
  std::uint64_t job_bytes_max = std::uint64_t{256} << 20U;  ///< size of a saved job
  Millis timeout{30'000};
};

struct PastQuestion {
  std::string job;
  TimeMs at;
  /// These describe the job in memory; they are unset if the job is not in memory.
  std::optional<store::Seq> first;  ///< number of its first batch in the journal
  TimeMs opened{};                  ///< when that batch came
  std::stop_token left = {};        ///< the client has left
};

struct PastProblem {
  unsigned status = 0;  ///< HTTP status
  std::string code, message;
};

/// The report as JSON.
using PastAnswer = std::expected<std::string, PastProblem>;
using PastThen = std::function<void(PastAnswer)>;

}  // namespace l4::past
