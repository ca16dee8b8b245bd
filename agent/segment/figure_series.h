// The values of the numbers that one source prints, as windows that are worth shipping.
//
// Place in the flow: find_figures -> here -> batch. Values are gathered in windows of kWindow. A
// window that looks like the one shipped before joins the next ones and is kept back: a number that
// stays as it is costs nothing on the wire. A window ends early where kOutside values in a row lie
// far from those before, so that the next one begins with the new range, and is shipped at the next
// flush where a run of values that are not finite begins, grows or ends. One per source, one
// thread. Bounds: kSeriesMax numbers, kWindow + kOutside values of each, kUrgentMax early windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/wire/figures.h"

namespace l4::segment {

class FigureSeries {
 public:
  static constexpr std::size_t kSeriesMax = 8;
  static constexpr std::uint32_t kWindow = 64;
  static constexpr std::uint32_t kOutside = 4;
  static constexpr std::uint32_t kUrgentMax = 64;

  explicit FigureSeries(SourceId source) : source_(source) {}

  void add(wire::FigureKind kind, std::string_view name, std::optional<Iteration> iteration,
           double value);
  /// Moves the windows that are to be shipped to the end of `out`; `all`: whatever there is.
  void release(std::vector<wire::FigureWindow>& out, bool all);

 private:
  struct Range {
    double low = 0, high = 0;
  };
  struct Series {
    wire::FigureWindow open;                  ///< without the figures that follow from `values`
    std::vector<double> values;               ///< the finite ones of `open`
    double low = 0, high = 0;                 ///< of those that are not outside
    std::optional<Range> before;              ///< the same of the window before
    std::uint32_t outside = 0;                ///< values at the end that lie far from the others
    std::optional<Iteration> outside_from;    ///< iteration of the first of them
    std::optional<Iteration> before_outside;  ///< and of the value before it
    std::optional<wire::FigureWindow> held;   ///< not shipped: alike `told`
    std::optional<wire::FigureWindow> told;   ///< shipped last
    std::uint32_t bad_run = 0;  ///< values at the end that are not finite, of all windows
    bool urgent = false;
  };

  Series* series_of(wire::FigureKind kind, std::string_view name);
  void add_finite(Series& series, std::optional<Iteration> iteration, double value);
  void note_run(Series& series, std::optional<Iteration> iteration, double value);
  void split(Series& series);
  static void take_range(Series& series);
  void end_window(Series& series);
  void ship(Series& series, const wire::FigureWindow& window);

  SourceId source_;
  std::uint32_t urgent_left_ = kUrgentMax;
  std::vector<Series> series_;
  std::vector<wire::FigureWindow> ready_;
};

}  // namespace l4::segment
