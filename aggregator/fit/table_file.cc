#include "aggregator/fit/table_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace l4::fit {
namespace {

constexpr std::array<std::string_view, 3> kSigns{"up", "down", "any"};

std::string head_of(const FitResult& fit, clues::GroundKind kind) {
  return fmt::format("[confidence.{}.{}]", clues::name(fit.of), clues::name(kind));
}

std::string_view without_blanks_behind(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last == line.npos ? "" : line.substr(0, last + 1);
}

bool is_row_of(const FitResult& fit, std::string_view line) {
  return std::ranges::any_of(fit.grounds, [&](const FittedGround& ground) {
    const std::string head = head_of(fit, ground.kind);
    return line == head ||
           (line.starts_with(head) && line.find_first_not_of(" \t", head.size()) != line.npos &&
            line[line.find_first_not_of(" \t", head.size())] == '#');
  });
}

/// Without the tables that are to be written anew: from their head to the next one, or to a comment
/// or blank line.
std::string without_rows(std::string_view text, const FitResult& fit) {
  std::string kept;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line =
        without_blanks_behind(text.substr(0, size - 1 + (text[size - 1] != '\n')));
    if (is_row_of(fit, line))
      inside = true;
    else if (line.empty() || line.front() == '[' || line.front() == '#')
      inside = false;
    if (!inside) kept.append(text.substr(0, size));
    text.remove_prefix(size);
  }
  while (kept.ends_with("\n\n")) kept.pop_back();
  if (!kept.empty() && !kept.ends_with('\n')) kept += '\n';
  return kept;
}

}  // namespace

std::string with_fitted(std::string text, const FitResult& fit, const clues::GroundRows& table,
                        const std::string& made) {
  std::string out = without_rows(text, fit);
  for (const FittedGround& ground : fit.grounds) {
    const clues::GroundRow& row = table[static_cast<std::size_t>(ground.kind)];
    if (!out.empty()) out += '\n';
    out += fmt::format("{}\nsign = \"{}\"\nweight = {:.2f}\n", head_of(fit, ground.kind),
                       kSigns[static_cast<std::size_t>(row.sign)], ground.weight + 0.0);
    if (row.most < clues::kConfidenceMost) out += fmt::format("most = {}\n", row.most);
    out += fmt::format("origin = \"fitted: {} claims, {} right; {}\"\n", ground.claims,
                       ground.right, made);
  }
  return out;
}

}  // namespace l4::fit
