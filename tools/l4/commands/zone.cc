#include "tools/l4/commands/zone.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace l4::commands {
namespace {

Result<Millis> offset_of_name(const std::string& name) {
  std::error_code ignored;
  if (name.find("..") != std::string::npos ||
      !std::filesystem::is_regular_file("/usr/share/zoneinfo/" + name, ignored))
    return std::unexpected(Error{name, "neither an offset such as +02:00 nor a known zone"});
  // The C library keeps the zone in the environment; this runs before any thread is started.
  setenv("TZ", name.c_str(), 1);
  tzset();
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return Millis{local.tm_gmtoff * 1000};
}

}  // namespace

Result<Millis> parse_zone(const std::string& text) {
  if (text == "UTC" || text == "Z") return Millis{0};
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return offset_of_name(text);
  // A time with this zone, minus the same time in UTC, is the offset.
  const auto zoned = parse_time("2000-01-01T00:00:00" + text);
  const auto utc = parse_time("2000-01-01T00:00:00Z");
  if (!zoned) return std::unexpected(Error{text, "not an offset such as +02:00"});
  return *utc - *zoned;
}

}  // namespace l4::commands
