#include "agent/segment/table_head.h"

#include <algorithm>

#include "agent/segment/progress_words.h"
#include "agent/segment/whole_number.h"
#include "agent/text/scan.h"
#include "common/base/ascii.h"

namespace l4::segment {
namespace {

constexpr std::size_t kLineMax = 512, kCellsMax = 32, kNameMax = 40;

/// Takes the first cell off `rest`.
std::string_view next_cell(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view cell = text::trim(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (separator == ' ') rest = text::trim(rest);
  return cell;
}

/// The line without the bars at its ends.
std::string_view inner(std::string_view line, char separator) {
  line = text::trim(line);
  if (separator != '|') return line;
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  return line;
}

char separator_of(std::string_view line) {
  for (const char sign : {'|', '\t', ','})
    if (line.contains(sign)) return sign;
  return ' ';
}

Unit unit_of(std::optional<Says> says) {
  if (says == Says::iteration) return Unit::iteration;
  return says == Says::epoch ? Unit::epoch : Unit::unknown;
}

bool is_name(std::string_view cell) {
  return cell.size() <= kNameMax && std::ranges::all_of(cell, [](char c) {
           return is_letter(c) || std::string_view{" _-/.()%"}.contains(c);
         });
}

/// "0.653", "-1.2e-05", "00:35", "nan", "97%", "12.3 GB", "No log": what stands below a measure.
bool is_value(std::string_view cell) {
  constexpr std::string_view kNothing = "No log";
  if (cell.empty() || cell == kNothing || cell == "None" || cell == "-") return true;
  if (is_digit(cell[0])) return true;
  const std::string_view number = cell.substr(cell[0] == '-' || cell[0] == '+' ? 1 : 0);
  if (number.empty()) return false;
  return is_digit(number[0]) || number[0] == '.' || begins_lower(number, "nan") ||
         begins_lower(number, "inf");
}

}  // namespace

std::optional<TableHead> TableHead::read(std::string_view line) {
  if (line.size() > kLineMax || std::ranges::any_of(line, is_digit)) return std::nullopt;
  TableHead head;
  const std::string_view names = text::trim(line);
  head.separator_ = separator_of(names);
  std::string_view rest = inner(names, head.separator_);
  std::size_t cells = 0, measures = 0;
  while (!rest.empty() && cells < kCellsMax) {
    const std::string_view cell = next_cell(rest, head.separator_);
    if (!is_name(cell)) return std::nullopt;
    const std::string_view last = last_part(cell, cell.size());
    const Unit unit = unit_of(meaning_of(last));
    const bool finer = unit == Unit::iteration
                           ? head.unit_ != Unit::iteration
                           : unit != Unit::unknown && head.unit_ == Unit::unknown;
    if (finer && (head.separator_ != ' ' || cells == 0)) {
      head.unit_ = unit;
      head.counter_ = static_cast<std::uint8_t>(cells);
      head.name_ = hash_of(last);
    }
    measures += company_of(cell).measured ? 1 : 0;
    ++cells;
  }
  if (head.unit_ == Unit::unknown || measures == 0 || !rest.empty()) return std::nullopt;
  head.cells_ = static_cast<std::uint8_t>(cells);
  return head;
}

std::optional<Counter> TableHead::counter_of(std::string_view row) const {
  std::string_view rest = inner(row, separator_);
  if (rest.empty() || rest.size() > kLineMax) return std::nullopt;
  std::optional<std::int64_t> value;
  std::size_t cells = 0;
  for (; !rest.empty() && cells < kCellsMax; ++cells) {
    const std::string_view cell = next_cell(rest, separator_);
    if (!is_value(cell)) return std::nullopt;
    if (cells != counter_) continue;
    if (cell.empty() || digits_end(cell, 0) != cell.size()) return std::nullopt;
    value = number_at(cell, 0, cell.size());
  }
  const bool parted = separator_ != ' ';
  if (!value || cells < 2 || (parted && cells != cells_) || (!parted && cells > cells_))
    return std::nullopt;
  return Counter{.value = *value, .unit = unit_, .sign = Sign::word, .name = name_};
}

}  // namespace l4::segment
