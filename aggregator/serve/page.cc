#include "aggregator/serve/page.h"

#include <algorithm>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

constexpr std::size_t kGutter = 10;
constexpr std::size_t kWidthMin = 60;
constexpr std::size_t kWidthMax = 400;
constexpr std::string_view kDot = " · ";

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::strong:
      return "\x1b[1m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::good:
      return "\x1b[1;32m";
    case Tone::uneasy:
      return "\x1b[1;33m";
    case Tone::bad:
      return "\x1b[1;31m";
    case Tone::plain:
      break;
  }
  return "";
}

/// Longest start of `text` that fits into `width` cells, at least one character.
std::size_t fitting(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t used = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    used += cells(point.value);
    if (used > width && at > 0) break;
    at += point.bytes;
  }
  return at;
}

/// Removes one line of words from the front of `text` and returns it.
std::string cut_line(std::string_view& text, std::size_t width) {
  std::size_t end = fitting(text, width);
  if (end < text.size() && text[end] != ' ') {
    const std::size_t blank = text.rfind(' ', end);
    if (blank != std::string_view::npos && blank > 0) end = blank;
  }
  std::string line(text.substr(0, end));
  line.erase(line.find_last_not_of(' ') + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  return line;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines_max) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    const std::string paragraph = harmless(text.substr(0, feed));
    text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    std::string_view rest = paragraph;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    while (!rest.empty()) {
      if (lines.size() + 1 == lines_max && (cells(rest) > width || !text.empty())) {
        lines.push_back(cut(std::string(rest) + " …", width));
        return lines;
      }
      lines.push_back(cut_line(rest, width));
    }
  }
  return lines;
}

Page::Page(const TextStyle& style)
    : color_(style.color), width_(std::clamp(style.width, kWidthMin, kWidthMax)) {}

std::size_t Page::room() const {
  return width_ - kGutter;
}

void Page::gap() {
  if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
}

void Page::title(const std::vector<Span>& spans) {
  append(spans, width_);
  end_line();
}

void Page::title_prose(std::string_view text, std::size_t lines_max) {
  for (const std::string& line : wrap(text, width_, lines_max)) title({{line, Tone::plain}});
}

void Page::row(const std::vector<Span>& spans, std::size_t indent) {
  append({{cut(label_, kGutter - 1), Tone::dim}}, kGutter);
  out_.append(kGutter - std::min(cells(label_), kGutter - 1) + indent, ' ');
  label_.clear();
  append(spans, room() - indent);
  end_line();
}

void Page::prose(std::string_view lead, std::string_view text, std::size_t lines_max,
                 std::size_t indent) {
  std::string before(lead);
  for (std::string& line : wrap(text, room() - indent - cells(lead), lines_max)) {
    row({{before, Tone::dim}, {std::move(line)}}, indent);
    before.assign(cells(lead), ' ');
  }
}

void Page::facts(const std::vector<std::string>& facts, std::size_t indent, Tone tone) {
  std::string line;
  std::size_t left = room() - indent;
  for (const std::string& fact : facts) {
    if (fact.empty()) continue;
    const std::size_t size = cells(harmless(fact)) + (line.empty() ? 0 : cells(kDot));
    if (size > left) continue;
    if (!line.empty()) line += kDot;
    line += fact;
    left -= size;
  }
  if (!line.empty()) row({{line, tone}}, indent);
}

void Page::append(const std::vector<Span>& spans, std::size_t width) {
  std::vector<Span> shown;
  for (const Span& span : spans) {
    shown.push_back({cut(harmless(span.text), width), span.tone});
    width -= cells(shown.back().text);
  }
  for (auto span = shown.rbegin(); span != shown.rend(); ++span) {  // no blanks at the end
    span->text.erase(span->text.find_last_not_of(' ') + 1);
    if (!span->text.empty()) break;
  }
  for (const Span& span : shown) {
    const std::string_view code = color_ && !span.text.empty() ? code_of(span.tone) : "";
    out_ += code;
    out_ += span.text;
    if (!code.empty()) out_ += "\x1b[0m";
  }
}

void Page::end_line() {
  out_.erase(out_.find_last_not_of(' ') + 1);
  out_ += '\n';
}

std::string Page::release() {
  return std::move(out_);
}

}  // namespace l4::serve
