// A page of text with a gutter: labels on the left, what they label on the right, no line wider
// than the page. The only place that writes colours, and the only way for text to get out, so
// everything is rendered harmless here. One owner, one thread; reports and the pages of
// `l4 faults show` are made with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/serve/report_text.h"

namespace l4::serve {

enum class Tone : std::uint8_t { plain, strong, dim, good, uneasy, bad };

struct Span {
  std::string text;
  Tone tone = Tone::plain;
};

class Page {
 public:
  explicit Page(const TextStyle& style);

  /// One empty line, never two in a row.
  void gap();
  /// From the left edge.
  void title(const std::vector<Span>& spans);
  void title_prose(std::string_view text, std::size_t lines_max);
  /// The next row or prose carries this label.
  void label(std::string_view text) { label_ = text; }
  /// One line beside the gutter, cut where it gets too wide.
  void row(const std::vector<Span>& spans, std::size_t indent = 0);
  void row(std::string_view text) { row({{std::string(text)}}); }
  /// Wrapped text behind `lead`, under which the further lines stand; line feeds are kept, lines
  /// past `lines_max` are cut with an ellipsis.
  void prose(std::string_view lead, std::string_view text, std::size_t lines_max,
             std::size_t indent);
  /// The facts that fit on one line, in order, between middle dots.
  void facts(const std::vector<std::string>& facts, std::size_t indent = 0, Tone tone = Tone::dim);

  /// Cells beside the gutter.
  std::size_t room() const;
  std::string take();

 private:
  void put(const std::vector<Span>& spans, std::size_t width);
  void end_line();

  bool color_;
  std::size_t width_;
  std::string label_;
  std::string out_;
};

/// Words of `text` in lines of at most `width` cells, at most `lines_max` of them.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines_max);

}  // namespace l4::serve
