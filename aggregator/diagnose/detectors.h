// The detectors that a diagnosis runs, in order: one table in detectors.cc.
//
// Place in the flow: diagnose() makes an Attempt and walks the table twice, before and after the
// state is decided; each row adds its own part to Findings. A new detector is a row there and a
// member of Findings. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/findings/findings.h"

namespace l4::diagnose {

/// The time for which a diagnosis gives the state of the job. `known`: that time does not come from
/// the job's lines.
struct AsOf {
  TimeMs time{};
  bool known = false;
};

/// Input of a detector besides the findings so far.
struct Attempt {
  const Options& options;
  const Pool& pool;
  AsOf now;
  State state = State::unknown;  ///< as decided; unknown while detectors of Step::seen run
};

enum class Step : std::uint8_t {
  seen,      ///< runs before the state is decided, for every attempt
  compared,  ///< runs after the state is decided, for an attempt that is reported in whole
};

struct Detector {
  std::string_view name;
  Step step;
  void (*run)(const Attempt& attempt, Findings& findings);
};

std::span<const Detector> detectors();

void run_detectors(Step step, const Attempt& attempt, Findings& findings);

}  // namespace l4::diagnose
