#include "agent/segment/whole_number.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace l4::segment {
namespace {

/// Position behind the groups of three that go on a number; `end` if there are none.
std::size_t groups_end(std::string_view line, std::size_t begin, std::size_t end) {
  constexpr std::size_t kGroup = 3;
  if (end - begin > kGroup || at_or_blank(line, begin) == '0') return end;
  std::size_t at = end;
  while (at_or_blank(line, at) == ',' && digits_end(line, at + 1) == at + 1 + kGroup)
    at += 1 + kGroup;
  return at;
}

/// The number at `at`, whose groups end before `end`.
std::optional<std::int64_t> join_groups(std::string_view line, std::size_t at, std::size_t end) {
  std::int64_t value = 0;
  for (std::size_t from = at; from < end;) {
    const std::size_t stop = std::min(digits_end(line, from), end);
    const auto group = number_at(line, from, stop);
    if (!group || value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    value = from == at ? *group : value * 1000 + *group;
    from = stop + 1;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> number_at(std::string_view line, std::size_t at, std::size_t end) {
  constexpr std::size_t kDigitsMax = 12;
  if (end == at || end - at > kDigitsMax) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(line.data() + at, line.data() + end, value);
  return value;
}

std::optional<Whole> grouped_number(std::string_view line, std::size_t begin, std::size_t end) {
  const std::size_t groups = groups_end(line, begin, end);
  if (groups == end) return std::nullopt;
  const auto value = join_groups(line, begin, groups);
  return value ? std::optional(Whole{*value, 0, begin, groups, true}) : std::nullopt;
}

void read_total(std::string_view line, Whole& whole) {
  std::size_t at = skip_blanks(line, whole.end);
  if (at_or_blank(line, at) == '/')
    at = skip_blanks(line, at + 1);
  else if (at > whole.end && line.substr(at).starts_with("of "))
    at = skip_blanks(line, at + 2);
  else
    return;
  std::size_t end = digits_end(line, at);
  auto total = number_at(line, at, end);
  if (whole.grouped && total)
    if (const auto grouped = grouped_number(line, at, end)) {
      total = grouped->value;
      end = grouped->end;
    }
  const char after = at_or_blank(line, end);
  if (!total || *total < whole.value || is_name_letter(after) || after == '/' || after == '%')
    return;
  if (after == '.' && is_digit(at_or_blank(line, end + 1))) return;
  whole.total = *total;
  whole.end = end;
}

}  // namespace l4::segment
