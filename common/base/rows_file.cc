#include "common/base/rows_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/descriptor.h"
#include "common/base/hash.h"

namespace l4 {
namespace {

constexpr std::size_t kBytesMax = 256 << 20;

std::uint64_t sum_of(std::string_view text) {
  return hashing::of_bytes(text.data(), text.size());
}

void add_line(std::string& to, std::string_view text) {
  to += fmt::format("{:016x} {}\n", sum_of(text), text);
}

std::string end_of(std::size_t rows) {
  return fmt::format("end {}", rows);
}

std::string escaped(std::string_view text, bool blanks) {
  std::string one;
  for (const char c : text) {
    const bool blank = blanks && c == ' ';
    if (c == '\n' || c == '\\' || blank) one += '\\';
    one += c == '\n' ? 'n' : blank ? '_' : c;
  }
  return one;
}

std::string unescaped(std::string_view escaped) {
  std::string text;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const bool sign = escaped[i] == '\\' && i + 1 < escaped.size();
    if (sign) ++i;
    const char c = escaped[i];
    text += sign && c == 'n' ? '\n' : sign && c == '_' ? ' ' : c;
  }
  return text;
}

Error failed(const std::string& path, const char* what) {
  return {path, fmt::format("cannot be {}: {}", what, std::strerror(errno))};
}

}  // namespace

Result<RowsFile::Loaded> RowsFile::load() const {
  Loaded loaded;
  const Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number() < 0 && errno == ENOENT) return loaded;
  if (file.number() < 0) return std::unexpected(failed(path_, "read"));
  std::string text;
  for (char buffer[64 * 1024]; text.size() < kBytesMax;) {
    const ssize_t n = ::read(file.number(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(failed(path_, "read"));
    if (n == 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  loaded.complete = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    RowReader line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto sum = line.number<std::uint64_t>(16);
    const std::string_view row = line.rest();
    if (!line.good() || sum != sum_of(row))
      ++loaded.damaged;
    else if (row.starts_with("end "))
      loaded.complete = row == end_of(loaded.rows.size());
    else if (row != title_)
      loaded.rows.emplace_back(row);
  }
  return loaded;
}

Result<void> RowsFile::save(const std::vector<std::string>& rows) {
  std::string text;
  add_line(text, title_);
  for (const std::string& row : rows) add_line(text, row);
  add_line(text, end_of(rows.size()));
  if (text == saved_) return {};
  const std::string temporary = path_ + ".new";
  const auto give_up = [&](const char* what) {
    Error error = failed(path_, what);
    ::unlink(temporary.c_str());
    return std::unexpected(std::move(error));
  };
  {
    const Descriptor file{
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (file.number() < 0) return give_up("written");
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t n = ::write(file.number(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return give_up("written");
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(file.number()) != 0) return give_up("synced");
  }
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return give_up("replaced");
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const Descriptor parent{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (parent.number() >= 0) ::fsync(parent.number());
  saved_ = std::move(text);
  return {};
}

std::string word(std::string_view text) {
  return escaped(text, true);
}

std::string words(std::string_view text) {
  return escaped(text, false);
}

std::string_view RowReader::next() {
  const std::size_t end = std::min(rest_.find(' '), rest_.size());
  const std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return text;
}

std::string RowReader::text() {
  return unescaped(next());
}

std::string RowReader::texts() {
  return unescaped(rest());
}

}  // namespace l4
