// Strict reading of one TOML file: every value by its key, every error with file, line and key.
// Flow: rule packs, the fault library and the programs' own configs are read through this, so that
// toml++ stays inside one source. A reader asks for each key it knows and calls `finish()` on the
// root at the end: it returns the first error of the file: a missing key, a wrong type, a value
// refused by `refuse()`, or a key that was not read (so a misspelt key is never ignored). Copies
// share the same file; use from one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4 {

/// For each path that a config names, the first place that names it: FILE:LINE: KEY.
using NamedPaths = std::map<std::filesystem::path, std::string>;

class ConfigTable {
 public:
  /// Fails if `file` is not a regular file, is larger than 64 MiB, cannot be read, or is not TOML.
  static Result<ConfigTable> load(const std::filesystem::path& file);
  /// Parses a text; `name` stands for the file in errors.
  static Result<ConfigTable> parse(std::string_view text, const std::string& name);

  bool has(std::string_view key) const;

  /// Required values. A missing or mistyped one is noted and an empty value returned.
  std::string text(std::string_view key);
  std::vector<std::string> texts(std::string_view key);

  /// Optional values: absent gives the fallback, a wrong type is noted.
  std::string text_or(std::string_view key, std::string_view fallback);
  std::vector<std::string> texts_or_none(std::string_view key);
  bool flag_or(std::string_view key, bool fallback);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  /// A value outside [from, to] is noted, too, and gives the fallback.
  std::int64_t integer_within(std::string_view key, std::int64_t fallback, std::int64_t from,
                              std::int64_t to);

  /// A number in [from, to], whole or not: required, or with a fallback.
  double number(std::string_view key, double from, double to);
  double number_or(std::string_view key, double fallback, double from, double to);

  /// A required word out of a closed list: its index (0 if refused).
  std::size_t choice(std::string_view key, const std::vector<std::string_view>& words);

  /// Children: `[[key]]` blocks in file order, or one `[key]` table; none if absent.
  std::vector<ConfigTable> tables(std::string_view key);
  /// The one `[key]` table, or an empty one where it is absent.
  ConfigTable table(std::string_view key);

  /// Line of the value at `key`, or of its element (from 0) if it is a list; the table's line if
  /// the key is absent.
  std::uint32_t line_of(std::string_view key, std::size_t element = 0) const;

  /// Notes an error at the key.
  void refuse(std::string_view key, std::string_view reason, std::size_t element = 0);

  /// Notes that the key names this path.
  void note_path(std::string_view key, const std::filesystem::path& path);
  const NamedPaths& named_paths() const;

  /// The first error of the whole file, if there is one.
  std::optional<Error> finish() const;

  /// Each value that was read from the file's tables, by `table.key`, fallbacks included, so that
  /// two readings can be compared. Among several tables of one name the last one counts.
  const std::map<std::string, std::string>& taken() const;

 private:
  struct File;
  struct Node;
  ConfigTable(std::shared_ptr<File> file, std::shared_ptr<Node> node);
  void note_taken(std::string_view key, std::string value);

  std::shared_ptr<File> file_;
  std::shared_ptr<Node> node_;
};

/// The `*.toml` files of a folder by name; an Error if the folder is missing or holds no such file.
Result<std::vector<std::filesystem::path>> list_config_files(const std::filesystem::path& folder);

}  // namespace l4
