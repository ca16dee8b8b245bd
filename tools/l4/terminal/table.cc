#include "tools/l4/terminal/table.h"

#include <algorithm>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::terminal {
namespace {

using serve::Page;
using serve::Span;
using serve::Tone;

/// The width of each column in cells; 0 if all its cells are empty.
std::vector<std::size_t> fit(const std::vector<Column>& columns, const std::vector<Row>& rows,
                             std::size_t width) {
  constexpr std::size_t kNameMin = 12, kGap = 2;
  std::vector<std::size_t> widths(columns.size());
  std::size_t all = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const Row& row : rows) widths[i] = std::max(widths[i], serve::cells(row[i].text));
    if (widths[i] > 0) widths[i] = std::max(widths[i], columns[i].head.size());
    all += widths[i] + (widths[i] > 0 ? kGap : 0);
  }
  for (std::size_t i = 0; i < columns.size() && all > width + kGap; ++i) {
    if (!columns[i].may_shrink || widths[i] <= kNameMin) continue;
    const std::size_t less = std::min(widths[i] - kNameMin, all - width - kGap);
    widths[i] -= less;
    all -= less;
  }
  while (all > width + kGap) {
    std::size_t least = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (widths[i] > 0 && columns[i].spare > (least < columns.size() ? columns[least].spare : 0))
        least = i;
    if (least == columns.size()) break;
    all -= widths[least] + kGap;
    widths[least] = 0;
  }
  return widths;
}

}  // namespace

void append_table(Page& page, const std::vector<Column>& columns, std::vector<Row> rows,
                  std::size_t width) {
  for (Row& row : rows)
    for (Span& cell : row) cell.text = serve::harmless(cell.text);
  const auto widths = fit(columns, rows, width);
  Row heads;
  for (const Column& column : columns) heads.push_back({std::string(column.head), Tone::dim});
  rows.insert(rows.begin(), std::move(heads));
  for (Row& row : rows) {
    std::vector<Span> line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (widths[i] == 0) continue;
      row[i].text = cut_middle(row[i].text, widths[i]);
      const std::string pad(widths[i] - std::min(widths[i], serve::cells(row[i].text)), ' ');
      if (!line.empty()) line.push_back({"  "});
      if (columns[i].to_the_right) line.push_back({pad});
      line.push_back(std::move(row[i]));
      if (!columns[i].to_the_right) line.push_back({pad});
    }
    page.title(line);
  }
}

std::string cut_middle(const std::string& text, std::size_t width) {
  if (serve::cells(text) <= width) return text;
  if (width < 4) return serve::cut(text, width);
  // The end of a path tells more than its begin; cut between code points only.
  const std::size_t front = (width - 1) / 3;
  const std::string head = serve::cut(text, front + 1);  // ends with an ellipsis
  std::size_t from = text.size();
  std::size_t cells = 0;
  while (from > 0) {
    std::size_t at = from - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    cells += serve::cells(std::string_view(text).substr(at, from - at));
    if (cells > width - serve::cells(head)) break;
    from = at;
  }
  return head + text.substr(from);
}

}  // namespace l4::terminal
