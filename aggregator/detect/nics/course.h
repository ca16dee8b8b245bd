// The course of one network card in tenths of a second, and the period of its steps.
//
// Place in the flow: cards::NicHistory -> here -> nics.h. Pure. The period is the lag at which the
// bytes of a tenth repeat (autocorrelation of the course without its mean), made sharper on later
// multiples of it, and by the mean of the single steps where bursts can be followed from one to the
// next. Steps shorter than kPeriodMin fold in tenths and have no period.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aggregator/cards/nic_table.h"
#include "common/base/time.h"

namespace l4::detect::nics {

/// Bytes of each tenth; kUnknown where nothing was measured.
struct Course {
  static constexpr float kUnknown = -1;
  TimeMs begin;
  std::vector<float> tenths;
};

/// The last `seconds_max` seconds of the card, without those before `from`.
Course course_of(const cards::NicHistory& nic, TimeMs from, std::size_t seconds_max);

struct PeriodOptions {
  double least_s = 0.4, most_s = 120;
  double likeness_min = 0.3;  ///< autocorrelation at the period
  double likeness_part =
      0.8;                 ///< of the best lag's: the shortest lag that reaches it is the period
  double known_min = 0.5;  ///< part of the tenths that must be known
};

struct Period {
  double seconds = 0;
  double likeness = 0;  ///< autocorrelation at the period, at most 1
};

/// Empty: the card is idle, or nothing repeats at least three times.
std::optional<Period> period_of(std::span<const float> tenths, const PeriodOptions& options = {});

}  // namespace l4::detect::nics
