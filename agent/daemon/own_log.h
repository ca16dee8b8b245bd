// The agent's own log: lines on standard error, for journald, or in a file.
//
// One line for an event. A text that was written within the last ten minutes is not written again
// but counted, unless it reports the end of a trouble. The only source with spdlog. One thread.
// Bounded: 1,024 texts are remembered.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/notices.h"
#include "common/base/error.h"
#include "common/base/time.h"

namespace spdlog {
class logger;
}

namespace l4::daemon {

class OwnLog {
 public:
  enum class Weight : std::uint8_t { info, warning, error };

  /// `journal`: lines begin with journald's level marks, and have no time of their own.
  explicit OwnLog(bool journal);
  /// A log in a file of at most 4 MiB, and as much of the time before.
  static Result<OwnLog> in_file(const std::filesystem::path& file);

  /// False: the text was written not long ago, and is only counted.
  bool write(Weight weight, std::string_view text, Millis steady);
  void info(std::string_view text, Millis steady) { write(Weight::info, text, steady); }
  void warn(std::string_view text, Millis steady) { write(Weight::warning, text, steady); }
  void warn(const std::vector<host::Notice>& notices, Millis steady) {
    for (const host::Notice& notice : notices) warn(notice.text, steady);
  }
  /// Writes the end of a trouble, each time.
  void recovered(std::string_view text, Millis steady);

 private:
  struct Written {
    Millis at{0};
    std::uint64_t again = 0;
  };
  explicit OwnLog(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  std::shared_ptr<spdlog::logger> logger_;
  bool journal_ = false;
  std::map<std::string, Written, std::less<>> written_;
};

}  // namespace l4::daemon
