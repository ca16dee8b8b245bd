// Values of a config file, read into the settings they stand for.
// `value` holds the default and is not changed if the key is absent. Errors are noted in the table
// (ConfigTable::finish).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/base/time.h"
#include "common/config/config_table.h"

namespace l4 {

inline constexpr std::int64_t kMebi = 1 << 20;
inline constexpr std::int64_t kDaySeconds = 86'400;

/// Reads an integer in [from, to]; `value` becomes the integer times `unit`.
template <class Number>
void read(ConfigTable& table, std::string_view key, Number& value, std::int64_t from,
          std::int64_t to, std::int64_t unit = 1) {
  const std::int64_t before = static_cast<std::int64_t>(value) / unit;
  value = static_cast<Number>(table.integer_within(key, before, from, to) * unit);
}

/// Reads a span of time; `unit` counts milliseconds.
inline void read(ConfigTable& table, std::string_view key, Millis& value, std::int64_t from,
                 std::int64_t to, std::int64_t unit = 1) {
  value = Millis{table.integer_within(key, value.count() / unit, from, to) * unit};
}

inline void read_seconds(ConfigTable& table, std::string_view key, Millis& value, std::int64_t from,
                         std::int64_t to) {
  read(table, key, value, from, to, 1000);
}

/// Reads a path, relative to the folder of the config `file`, and notes it in the table.
void read_path(ConfigTable& table, std::string_view key, const std::filesystem::path& file,
               std::filesystem::path& value);

/// The error of the file at `path`, behind the place that names the file if there is one.
Error named_error(const NamedPaths& named, const std::filesystem::path& path, const Error& error);

}  // namespace l4
