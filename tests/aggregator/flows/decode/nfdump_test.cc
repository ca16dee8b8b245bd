#include "aggregator/flows/decode/nfdump.h"

#include <doctest/doctest.h>

namespace l4::flows::decode {

TEST_CASE("a line of nfdump is read") {
  FlowRecord record;
  REQUIRE(
      parse_nfdump_line("1760000000.123            0.881      10.0.0.1   10.0.0.2  50000   4791 "
                        "UDP     123456789    30000\n",
                        record));
  CHECK(record.start == 1'760'000'000 * kSecond + 123 * kMillisecond);
  CHECK(record.end == 1'760'000'001 * kSecond + 4 * kMillisecond);
  CHECK(to_text(record.dst) == "10.0.0.2");
  CHECK(record.dst_port == 4791);
  CHECK(record.protocol == 17);
  CHECK(record.bytes == 123'456'789);
  CHECK(record.packets == 30'000);
}

TEST_CASE("other lines are not") {
  FlowRecord record;
  for (const char* line :
       {"", "\n", "No matching flows", "1.0 2.0 10.0.0.1 10.0.0.2 1 2 UDP 3",
        "2.0 -1.0 10.0.0.1 10.0.0.2 1 2 UDP 3 4", "1.0 2.0 10.0.0.1 10.0.0.2 1 70000 UDP 3 4",
        "-1.0 2.0 10.0.0.1 10.0.0.2 1 2 UDP 3 4"})
    CHECK_FALSE_MESSAGE(parse_nfdump_line(line, record), line);
}

TEST_CASE("a line whose times add up to more than there is is refused") {
  FlowRecord record;
  CHECK(!parse_nfdump_line(
      "4760000000.123 4760000000.123 10.0.0.1 10.0.0.2 50000 4791 UDP 1276789 300", record));
}

}  // namespace l4::flows::decode
