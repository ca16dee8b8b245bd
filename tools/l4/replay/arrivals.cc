#include "tools/l4/replay/arrivals.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace l4::replay {
namespace {

constexpr std::string_view kForm = "a row is `seconds,path,size`, or `# at SECONDS TEXT`";

std::optional<TimeMs> seconds_in(std::string_view text) {
  constexpr double kSecondsMax = 1e11;  // milliseconds, taken for seconds, are more
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || !(seconds >= 0) || seconds >= kSecondsMax) return std::nullopt;
  return TimeMs{Millis{std::llround(seconds * 1000)}};
}

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

/// Reads the rows one by one; a function that returns a text has found a fault.
class Reader {
 public:
  std::string row(std::string_view text);
  Arrivals finish() { return std::move(out_); }

 private:
  std::string fact(std::string_view text);
  std::string arrival(std::string_view text);

  Arrivals out_;
  std::size_t row_ = 0;
  std::map<std::string, std::pair<std::uint64_t, std::size_t>, std::less<>>
      sizes_;  // the last size of a path, and its row
};

std::string Reader::row(std::string_view text) {
  ++row_;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) return {};
  return text.front() == '#' ? fact(text) : arrival(text);
}

std::string Reader::fact(std::string_view text) {
  constexpr std::string_view kMark = "# at ";
  if (!text.starts_with(kMark)) return {};
  text.remove_prefix(kMark.size());
  const std::size_t blank = text.find(' ');
  if (blank == text.npos || blank + 1 == text.size())
    return "a fact needs a time and a text: " + std::string(kForm);
  const auto at = seconds_in(text.substr(0, blank));
  if (!at) return quoted(text.substr(0, blank)) + " is no number of seconds";
  out_.facts.push_back({*at, std::string(text.substr(blank + 1))});
  return {};
}

std::string Reader::arrival(std::string_view text) {
  const std::size_t first = text.find(',');
  const std::size_t last = text.rfind(',');
  if (first == text.npos || first == last)
    return quoted(text.substr(0, 80)) + " has too few columns: " + std::string(kForm);
  const auto at = seconds_in(text.substr(0, first));
  if (!at) return quoted(text.substr(0, first)) + " is no number of seconds";
  if (!out_.rows.empty() && *at < out_.rows.back().at)
    return "the time is earlier than that of the row before; rows must be in order of time";
  const std::string_view path = text.substr(first + 1, last - first - 1);
  if (path.empty()) return "the path is missing: " + std::string(kForm);
  const std::string_view digits = text.substr(last + 1);
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return quoted(digits) + " is no size in bytes";
  auto& [size_before, row_before] = sizes_[std::string(path)];
  if (size < size_before)
    return std::string(path) + " shrinks from " + std::to_string(size_before) + " bytes (line " +
           std::to_string(row_before) + ") to " + std::to_string(size) +
           "; a log that shrinks cannot be replayed";
  size_before = size;
  row_before = row_;
  out_.rows.push_back({*at, std::string(path), size, row_});
  return {};
}

}  // namespace

Result<Arrivals> load_arrivals(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(Error{path.string(), "cannot be opened for reading"});
  Reader reader;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (const std::string fault = reader.row(line); !fault.empty())
      return std::unexpected(Error{path.string() + ":" + std::to_string(number), fault});
  }
  if (file.bad()) return std::unexpected(Error{path.string(), "cannot be read"});
  Arrivals arrivals = reader.finish();
  if (arrivals.rows.empty())
    return std::unexpected(Error{path.string(), "holds no row of the form `seconds,path,size`"});
  return arrivals;
}

}  // namespace l4::replay
