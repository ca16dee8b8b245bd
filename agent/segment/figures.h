// Finds the numbers that training programs print by name: losses, gradient norms, loss scales,
// rates.
//
// Place in the flow: agent/pipeline calls find_figures once for each template, with its first
// message, and keeps the answer; read_figure runs for each line of such a template, without
// allocation. A name is told by its last words ("lm loss", "train/loss" and "reduced_train_loss"
// are losses), and only where a number stands right behind it. Stateless but for the hints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/outline.h"
#include "common/wire/figures.h"

namespace l4::segment {

inline constexpr std::size_t kFigureNameMax = 48;  ///< bytes of a name

/// A number of a template's lines.
struct Figure {
  wire::FigureKind kind = wire::FigureKind::loss;
  std::string name;
  std::string before;    ///< the text from the name to the number
  std::size_t tail = 0;  ///< where the name's tail begins in it
  bool within = false;   ///< other words of a sentence stand before it
  /// Where it stood in the last line. In other lines of the template the place differs by the
  /// lengths of the numbers before it, and numbers that are filled up with blanks shift nothing.
  struct Place {
    std::uint64_t outline = 0;  ///< Outline::collapsed of the line
    std::size_t at = 0;         ///< position of `before`
    bool known = false;
  };
  mutable Place last;
};

/// At most kFiguresMax, in the order of the message.
std::vector<Figure> find_figures(std::string_view message);
inline constexpr std::size_t kFiguresMax = 6;

/// The number in a line of the template; may be NaN or infinite.
std::optional<double> read_figure(std::string_view message, const Figure& figure,
                                  const Outline& outline);

/// A row of the table of names.
struct FigureForm {
  wire::FigureKind kind;
  std::string_view tail;  ///< last words of the name, small letters; a blank is also _ - or nothing
  std::string_view example;  ///< a line with such a number
  std::string_view name;     ///< the name that is read from the example
  double value;              ///< and the number
};
std::span<const FigureForm> figure_forms();

}  // namespace l4::segment
