// The agent's own log: lines on standard error, for journald.
//
// One line for an event; what was said within the last ten minutes is not said again, but counted,
// unless it ends what was.
// The only source with spdlog. One thread. Bounded: 1,024 texts are remembered.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace l4::daemon {

class OwnLog {
 public:
  enum class Weight : std::uint8_t { info, warning, error };

  /// `journal`: lines begin with journald's level marks, and have no time of their own.
  explicit OwnLog(bool journal);

  /// False: it was said not long ago, and is only counted.
  bool say(Weight weight, std::string_view text, Millis steady);
  void info(std::string_view text, Millis steady) { say(Weight::info, text, steady); }
  void warn(std::string_view text, Millis steady) { say(Weight::warning, text, steady); }
  /// The trouble that was told is over: said each time.
  void recovered(std::string_view text, Millis steady);

 private:
  struct Said {
    Millis at{0};
    std::uint64_t again = 0;
  };
  bool journal_;
  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace l4::daemon
