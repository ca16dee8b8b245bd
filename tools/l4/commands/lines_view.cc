#include "tools/l4/commands/lines_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "aggregator/serve/utf8.h"

namespace l4::commands {
namespace {

constexpr std::string_view kStrong = "\x1b[1m", kDim = "\x1b[2m", kUneasy = "\x1b[33m",
                           kPlain = "\x1b[0m";

/// All received text passes through here.
std::string toned(std::string_view text, std::string_view tone, bool color) {
  const std::string harmless = serve::harmless(text);
  return color ? fmt::format("{}{}{}", tone, harmless, kPlain) : harmless;
}

std::string place_of(const ask::LineRow& line) {
  return line.number ? fmt::format("{}", *line.number) : fmt::format("+{}", line.offset);
}

bool same_block(const ask::LineRow& a, const ask::LineRow& b) {
  return a.agent == b.agent && a.node == b.node && a.rank == b.rank && a.file == b.file;
}

std::string title_of(const ask::LineRow& line) {
  std::string title = line.node;
  if (line.rank) title += fmt::format(" · rank {}", *line.rank);
  return title + " · " + line.file;
}

/// The list of what is missing, and where.
std::string text_of(const ask::MissingRow& row) {
  std::string text = row.agent.empty() ? "" : row.agent + ": ";
  if (!row.file.empty()) text += row.file + ": ";
  return fmt::format("{}{} ({})", text, row.text, row.kind);
}

}  // namespace

std::string to_text(const ask::LineList& list, const serve::TextStyle& style) {
  std::string out;
  std::size_t hits = 0, width = 0;
  for (const ask::LineRow& line : list.lines) width = std::max(width, place_of(line).size());
  const ask::LineRow* before = nullptr;
  for (const ask::LineRow& line : list.lines) {
    hits += line.hit ? 1 : 0;
    if (before == nullptr || !same_block(*before, line)) {
      if (before != nullptr) out += '\n';
      out += toned(title_of(line), kStrong, style.color) + '\n';
    } else if (line.number && before->number && *line.number > *before->number + 1) {
      out += toned("  ...", kDim, style.color) + '\n';
    }
    out += fmt::format("{} {} {}{}\n", line.hit ? '>' : ' ',
                       toned(fmt::format("{:>{}}", place_of(line), width), kDim, style.color),
                       line.hit ? serve::harmless(line.text) : toned(line.text, kDim, style.color),
                       line.cut ? " …" : "");
    before = &line;
  }
  if (!list.lines.empty()) out += '\n';
  for (const ask::MissingRow& row : list.missing)
    out += toned("missing: " + text_of(row), kUneasy, style.color) + '\n';
  const std::string redacted =
      list.redacted > 0 ? fmt::format(" · {} redacted", list.redacted) : std::string();
  const std::string complete = list.missing.empty() ? "" : " · incomplete";
  out += toned(fmt::format("{} lines · {} asked for · {} of {} agents{}{}", list.lines.size(), hits,
                           list.agents_answered, list.agents_asked, redacted, complete),
               kDim, style.color) +
         '\n';
  return out;
}

}  // namespace l4::commands
