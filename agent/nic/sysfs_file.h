// One counter of sysfs, held open: reading it again costs a pread and no path lookup.
//
// Flow: devices.h opens them, nic_watch.h reads them. Owns its descriptor. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace l4::nic {

class SysfsFile {
 public:
  SysfsFile() = default;
  explicit SysfsFile(const std::filesystem::path& path);
  SysfsFile(SysfsFile&& other) noexcept;
  SysfsFile& operator=(SysfsFile&& other) noexcept;
  SysfsFile(const SysfsFile&) = delete;
  SysfsFile& operator=(const SysfsFile&) = delete;
  ~SysfsFile();

  bool is_open() const { return fd_ >= 0; }
  /// The number that the file holds now. Empty: the device is gone, or it is no number.
  std::optional<std::uint64_t> read() const;

 private:
  int fd_ = -1;
};

/// The first line of a small file, without blanks at its end; empty if it cannot be read.
std::string text_of(const std::filesystem::path& path);

}  // namespace l4::nic
