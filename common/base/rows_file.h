// A small file of rows that a program keeps for its next start.
// Written as a whole to a temporary file, synced and renamed; if that fails, the former file stays.
// A line for each row has its own check sum: damaged or cut lines are left out and counted, the
// others are used. RowReader, word() and words() read and write rows. One thread.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace l4 {

class RowsFile {
 public:
  /// `title` is the first row of the file: what it holds, and the version of its form.
  RowsFile(std::string path, std::string title)
      : path_(std::move(path)), title_(std::move(title)) {}

  struct Loaded {
    std::vector<std::string> rows;
    std::size_t damaged = 0;  ///< lines that were left out
    bool complete = true;     ///< the file has its end mark
  };
  /// A missing file gives no rows; Error if a file cannot be read.
  Result<Loaded> load() const;

  /// Rows have no line end. Does nothing if the same rows were saved last. Error: the system's
  /// reason (disk full, read only, no such folder); the next call tries again.
  Result<void> save(const std::vector<std::string>& rows);

 private:
  std::string path_, title_;
  std::string saved_;  // content of the file
};

/// Text as one word of a row: without blanks and line ends.
std::string word(std::string_view text);
/// Text as the last words of a row: without line ends.
std::string words(std::string_view text);

/// Reads the words of a row one by one; after the first word of a wrong form all later reads fail.
class RowReader {
 public:
  explicit RowReader(std::string_view row) : rest_(row) {}

  /// 0 if the next word is no number of that kind.
  template <class Number>
  Number number(int base = 10) {
    Number value{};
    const std::string_view text = next();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    good_ = good_ && error == std::errc{} && end == text.data() + text.size();
    return good_ ? value : Number{};
  }
  /// The text that word() spelled as one word.
  std::string text();
  /// The text that words() spelled: the rest of the row.
  std::string texts();
  /// The rest of the row, unchanged.
  std::string_view rest() { return std::exchange(rest_, {}); }

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view next();

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace l4
