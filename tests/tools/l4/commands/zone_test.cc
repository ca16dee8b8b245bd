// Values of --tz.
#include "tools/l4/commands/zone.h"

#include <doctest/doctest.h>

#include <filesystem>

namespace l4::commands {
namespace {

TEST_CASE("offsets") {
  struct Row {
    const char* text;
    int minutes;
  };
  for (const Row& row : {Row{"UTC", 0}, Row{"Z", 0}, Row{"+00:00", 0}, Row{"+02:00", 120},
                         Row{"-0530", -330}, Row{"+08", 480}, Row{"-12:00", -720}}) {
    CAPTURE(row.text);
    const auto read = parse_zone(row.text);
    REQUIRE(read.has_value());
    CHECK(*read == std::chrono::minutes{row.minutes});
  }
}

TEST_CASE("names of the zone database") {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Asia/Kolkata")) {
    MESSAGE("skipped: no zone database");
    return;
  }
  // Zones without summer time, so that the answer holds all year.
  CHECK(parse_zone("Asia/Kolkata") == std::chrono::minutes{330});
  CHECK(parse_zone("Asia/Shanghai") == std::chrono::hours{8});
  CHECK(parse_zone("Etc/UTC") == Millis{0});
}

TEST_CASE("what is no zone names itself in the error") {
  for (const char* text :
       {"", "Mars/Olympus", "+99:00", "+2", "2:00", "../../../etc/passwd", "Europe", "+02:00x"}) {
    CAPTURE(text);
    const auto read = parse_zone(text);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().where == text);
    CHECK_FALSE(read.error().reason.empty());
  }
}

}  // namespace
}  // namespace l4::commands
