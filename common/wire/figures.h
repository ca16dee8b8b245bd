// Numbers that training programs print beside their iterations, as an agent sums them up.
//
// Place in the flow: agent/segment makes a window of the values of one number of one source;
// aggregator/job keeps the windows, aggregator/detect/figures reads them. An agent ships a window
// only when the number has changed (docs/WIRE.md), so windows need not follow each other closely.
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"

namespace l4::wire {

/// loss_term: a part of the loss, or the loss of an evaluation: its range may change at any time.
enum class FigureKind : std::uint8_t { loss, loss_term, gradient_norm, loss_scale, rate };

/// Successive values of one number.
struct FigureWindow {
  SourceId source;
  FigureKind kind = FigureKind::loss;
  std::string name;                      ///< as printed: "lm loss"
  std::optional<Iteration> first, last;  ///< of the first and the last value
  std::uint32_t count = 0;               ///< values
  std::uint32_t not_finite = 0;          ///< of them NaN or infinite
  /// The values at the end that are not finite; if the last one is finite: that are equal to it.
  std::uint32_t run = 0;
  std::optional<Iteration> run_from;
  double least = 0, median = 0, most = 0;  ///< of the finite values; 0 if there is none
  double final = 0;                        ///< the last value; may be NaN or infinite

  bool operator==(const FigureWindow&) const = default;
  std::uint32_t finite() const { return count - not_finite; }
};

/// One window of two of the same number that follow each other. Its median lies between theirs.
FigureWindow joined(const FigureWindow& first, const FigureWindow& second);

}  // namespace l4::wire
