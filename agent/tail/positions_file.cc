#include "agent/tail/positions_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/tail/text_file.h"
#include "common/base/descriptor.h"

namespace l4::tail {
namespace {

constexpr std::string_view kTitle = "l4 positions 1";
constexpr std::size_t kBytesMax = 256 << 20;

void add_line(std::string& to, std::string_view text) {
  to += fmt::format("{:016x} {}\n", fingerprint_of(text), text);
}

/// Paths are the last word of their line: only a line end must be written otherwise.
std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '\n' || c == '\\') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool sign = text[i] == '\\' && i + 1 < text.size();
    if (sign) ++i;
    path += sign && text[i] == 'n' ? '\n' : text[i];
  }
  return path;
}

template <class Number>
bool take(std::string_view& text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::optional<Position> read_line(std::string_view text) {
  Position position;
  wire::FileId& id = position.file;
  const bool good = take(text, id.key, 16) && take(text, id.device) && take(text, id.inode) &&
                    take(text, id.fingerprint, 16) && take(text, id.fingerprint_bytes) &&
                    take(text, position.offset) && take(text, position.lines) &&
                    take(text, position.known);
  if (!good) return std::nullopt;
  position.path = unescaped(text);
  return position;
}

std::string written(std::span<const Position> positions) {
  std::string text;
  add_line(text, kTitle);
  for (const Position& position : positions) {
    const wire::FileId& id = position.file;
    add_line(text, fmt::format("{:x} {} {} {:x} {} {} {} {} {}", id.key, id.device, id.inode,
                               id.fingerprint, id.fingerprint_bytes, position.offset,
                               position.lines, position.known, escaped(position.path)));
  }
  add_line(text, fmt::format("end {}", positions.size()));
  return text;
}

}  // namespace

Result<PositionsFile::Loaded> PositionsFile::load() const {
  const auto failed = [&] {
    return std::unexpected(Error{path_, std::string("cannot be read: ") + std::strerror(errno)});
  };
  Loaded loaded;
  const Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number() < 0 && errno == ENOENT) return loaded;
  if (file.number() < 0) return failed();
  std::string text;
  for (char buffer[64 * 1024]; text.size() < kBytesMax;) {
    const ssize_t n = ::read(file.number(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    if (n == 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  loaded.complete = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::uint64_t sum = 0;
    const bool whole = take(line, sum, 16) && sum == fingerprint_of(line);
    if (whole && line == kTitle) continue;
    const auto position = whole ? read_line(line) : std::nullopt;
    if (position) {
      loaded.positions.push_back(*position);
    } else if (whole && line.starts_with("end ")) {
      loaded.complete = line == fmt::format("end {}", loaded.positions.size());
    } else {
      ++loaded.damaged;
    }
  }
  return loaded;
}

Result<void> PositionsFile::save(std::span<const Position> positions) {
  std::string text = written(positions);
  if (text == saved_) return {};
  const std::string temporary = path_ + ".new";
  const auto failed = [&](const char* what) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return std::unexpected(
        Error{path_, fmt::format("cannot be {}: {}", what, std::strerror(error))});
  };
  {
    const Descriptor file{
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (file.number() < 0) return failed("written");
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t n = ::write(file.number(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("written");
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(file.number()) != 0) return failed("synced");
  }
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return failed("replaced");
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const Descriptor parent{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (parent.number() >= 0) ::fsync(parent.number());
  saved_ = std::move(text);
  return {};
}

}  // namespace l4::tail
