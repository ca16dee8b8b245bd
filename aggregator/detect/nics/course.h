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
#include "aggregator/numbers/nics.h"
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

/// As in force: aggregator/numbers/nics.h says what each number means.
struct PeriodOptions {
  double least_s = numbers::nics().period_least_s, most_s = numbers::nics().period_most_s;
  double likeness_min = numbers::nics().likeness_min;
  double likeness_part = numbers::nics().likeness_part;
  double known_min = numbers::nics().known_min;
};

struct Period {
  double seconds = 0;
  double likeness = 0;  ///< autocorrelation at the period, at most 1
};

/// Empty: the card is idle, or nothing repeats at least three times.
std::optional<Period> period_of(std::span<const float> tenths, const PeriodOptions& options = {});

}  // namespace l4::detect::nics
