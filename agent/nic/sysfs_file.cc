#include "agent/nic/sysfs_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace l4::nic {

SysfsFile::SysfsFile(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

SysfsFile::SysfsFile(SysfsFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

SysfsFile& SysfsFile::operator=(SysfsFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

SysfsFile::~SysfsFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<std::uint64_t> SysfsFile::read() const {
  std::array<char, 32> text;  // 2^64 has 20 digits
  const ssize_t size = ::pread(fd_, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string text_of(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::array<char, 256> bytes;
  const ssize_t size = ::read(fd, bytes.data(), bytes.size());
  ::close(fd);
  std::string_view text(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

}  // namespace l4::nic
