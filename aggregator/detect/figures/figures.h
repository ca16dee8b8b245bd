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

#include "aggregator/numbers/figures.h"
#include "common/base/ids.h"
#include "common/wire/figures.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::figures {

enum class ChangeKind : std::uint8_t { not_finite, out_of_range, at_floor, falls };

/// As in force: aggregator/numbers/figures.h says what each number means.
struct Options {
  std::uint32_t loss_run_min = numbers::figures().loss_run_min;
  std::uint32_t loss_first_run_min = numbers::figures().loss_first_run_min;
  std::uint32_t gradient_run_min = numbers::figures().gradient_run_min;
  std::uint32_t values_min = numbers::figures().values_min;
  double loss_ratio_min = numbers::figures().loss_ratio_min;
  double gradient_ratio_min = numbers::figures().gradient_ratio_min;
  double floor_max = numbers::figures().floor_max;
  double floor_drop_min = numbers::figures().floor_drop_min;
  std::uint32_t floor_run_min = numbers::figures().floor_run_min;
  double floor_none = numbers::figures().floor_none;
  double rate_ratio_max = numbers::figures().rate_ratio_max;
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

struct Fall {
  Iteration from{0};
  double ratio = 1;  ///< how many times lower than before
};

/// The fall of a rate on most streams that print it; with several rates, of that which most print.
std::optional<Fall> find_rate_fall(const job::JobView& view, const Options& options);

/// The change of one number, of which these are the windows.
std::optional<Change> change_of(const std::vector<wire::FigureWindow>& windows,
                                const Options& options = {});

}  // namespace l4::detect::figures
