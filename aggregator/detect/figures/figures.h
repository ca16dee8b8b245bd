// Numbers that go wrong: losses and gradient norms that are not finite or leave their range for
// good, loss scales at their floor, rates that fall.
//
// Place in the flow: the windows of a JobView's sources in, one Change for each number out; the
// report tells of it as notable. Pure. Nothing follows from it for the state of the job: a change
// holds up to the newest value, and one that has passed is none. Loss scales that fall step by step
// and gradients that overflow meanwhile are how mixed precision begins, and no change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/figures.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::figures {

enum class ChangeKind : std::uint8_t { not_finite, out_of_range, at_floor, falls };

struct Options {
  std::uint32_t loss_run_min = 2;        ///< values in a row that are not finite, after finite ones
  std::uint32_t loss_first_run_min = 8;  ///< and where there was none
  std::uint32_t gradient_run_min = 24;   ///< longer than a loss scale needs from 2^32 to 2^10
  std::uint32_t values_min = 16;         ///< on either side of a change of range
  double loss_ratio_min = 2;             ///< the new range lies above so many times the old one
  double gradient_ratio_min = 10;
  double floor_max = 1;              ///< a loss scale that is not above it is at its floor,
  double floor_drop_min = 64;        ///< if it once was so many times greater,
  std::uint32_t floor_run_min = 10;  ///< and for so many values
  double floor_none = 1e-6;          ///< below this a loss scale has no floor, and falls on and on
  double rate_ratio_max = 0.75;      ///< a rate has fallen below this share
};

struct Change {
  wire::FigureKind figure = wire::FigureKind::loss;
  std::string name;  ///< as printed
  ChangeKind kind = ChangeKind::not_finite;
  std::optional<Iteration> from;       ///< as printed; empty if none was printed
  double value = 0;                    ///< the newest one
  std::optional<double> usual;         ///< before
  std::uint64_t count = 0;             ///< values since
  std::vector<std::uint32_t> streams;  ///< where it was seen, ascending
  std::uint32_t streams_printing = 0;  ///< that print this number
};

/// By kind of number, then by name.
std::vector<Change> find_changes(const job::JobView& view, const Options& options = {});

/// The change of one number, of which these are the windows.
std::optional<Change> change_of(const std::vector<wire::FigureWindow>& windows,
                                const Options& options = {});

}  // namespace l4::detect::figures
