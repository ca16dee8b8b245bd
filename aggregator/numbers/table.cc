#include "aggregator/numbers/table.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "shipped_table.h"

namespace l4::numbers {
namespace {

constexpr double kMost = 1e12;  // no number is near it

/// By row of rows(), each with its table: `read_one` sees those that the file has.
template <class ReadOne>
void walk(ConfigTable& number, ReadOne read_one) {
  std::string_view room;
  std::optional<ConfigTable> of_room;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Row& row = rows()[i];
    if (row.room != room) of_room = number.table(room = row.room);
    const bool given = of_room->has(row.name);
    ConfigTable one = of_room->table(row.name);
    if (given) read_one(i, *of_room, one);
  }
}

Result<std::vector<Limits>> read_shipped() {
  auto root = ConfigTable::parse(kShippedTable, "scoring.toml");
  if (!root) return std::unexpected(root.error());
  std::vector<Limits> limits(rows().size());
  std::vector<bool> found(rows().size());
  ConfigTable number = root->table("number");
  walk(number, [&](std::size_t i, ConfigTable&, ConfigTable& one) {
    found[i] = true;
    limits[i] = {one.number("value", -kMost, kMost), one.text("unit"),
                 one.number("from", -kMost, kMost), one.number("to", -kMost, kMost)};
  });
  for (std::size_t i = 0; i < rows().size(); ++i)
    if (!found[i])
      return std::unexpected(Error{fmt::format("scoring.toml: number.{}", rows()[i].room),
                                   fmt::format("{}: missing", rows()[i].name)});
  return limits;
}

}  // namespace

Values in_force_now() {
  Values values;
  values.reserve(rows().size());
  for (const Row& row : rows()) values.push_back(row.get());
  return values;
}

void put_in_force(const Values& values) {
  L4_CHECK(values.size() == rows().size(), "{} numbers for {} rows", values.size(), rows().size());
  for (std::size_t i = 0; i < values.size(); ++i) rows()[i].set(values[i]);
}

const std::vector<Limits>& shipped() {
  static const std::vector<Limits> limits = [] {
    auto read = read_shipped();
    L4_CHECK(read, "{}", read.error().text());
    return std::move(*read);
  }();
  return limits;
}

Values read(ConfigTable number) {
  const std::vector<Limits>& known = shipped();
  Values values;
  values.reserve(known.size());
  for (const Limits& one : known) values.push_back(one.value);
  walk(number, [&](std::size_t i, ConfigTable& room, ConfigTable& one) {
    const Limits& limits = known[i];
    const double value = one.number("value", -kMost, kMost);
    static_cast<void>(one.text("origin"));
    // Unit and bounds belong to the program: a copy of the shipped row may name them.
    const std::string unit = one.text_or("unit", limits.unit);
    const double from = one.number_or("from", limits.from, -kMost, kMost);
    const double to = one.number_or("to", limits.to, -kMost, kMost);
    if (unit != limits.unit || from != limits.from || to != limits.to)
      room.refuse(rows()[i].name, fmt::format("is in {}, from {} to {}: a table cannot change that",
                                              limits.unit, limits.from, limits.to));
    else if (value < limits.from || value > limits.to)
      room.refuse(rows()[i].name, fmt::format("{} is not from {} to {} {}", value, limits.from,
                                              limits.to, limits.unit));
    else if (rows()[i].whole && value != std::trunc(value))
      room.refuse(rows()[i].name, fmt::format("{} is not whole", value));
    else
      values[i] = value;
  });
  return values;
}

}  // namespace l4::numbers
