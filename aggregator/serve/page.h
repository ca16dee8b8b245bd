// A page of text with a gutter: labels on the left, their texts on the right, no line wider than
// the page. Only this class writes colours, and all text of reports passes through it, so it makes
// every text harmless. One owner, one thread. Reports and `l4 faults show` use it.
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
  /// Writes a line that begins at the left edge.
  void title(const std::vector<Span>& spans);
  void title_prose(std::string_view text, std::size_t lines_max);
  /// Labels the next row or prose.
  void label(std::string_view text) { label_ = text; }
  /// One line beside the gutter, cut at the width of the page.
  void row(const std::vector<Span>& spans, std::size_t indent = 0);
  void row(std::string_view text) { row({{std::string(text)}}); }
  /// Wrapped text behind `lead`, with further lines aligned to the first; line feeds are kept, and
  /// text past `lines_max` lines is cut with an ellipsis.
  void prose(std::string_view lead, std::string_view text, std::size_t lines_max,
             std::size_t indent);
  /// Writes as many facts as fit on one line, in order, with middle dots between them.
  void facts(const std::vector<std::string>& facts, std::size_t indent = 0, Tone tone = Tone::dim);

  /// Cells beside the gutter.
  std::size_t room() const;
  std::string release();

 private:
  void append(const std::vector<Span>& spans, std::size_t width);
  void end_line();

  bool color_;
  std::size_t width_;
  std::string label_;
  std::string out_;
};

/// The words of `text` in at most `lines_max` lines of at most `width` cells.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines_max);

}  // namespace l4::serve
