#include "aggregator/job/event_table.h"

#include <doctest/doctest.h>

#include <vector>

namespace l4::job {

TEST_CASE("templates are found in any order and listed as they came") {
  EventTable table;
  const std::vector<std::uint32_t> locals{7, 3, 900, 0, 5, 4, 1000, 1};
  for (const std::uint32_t local : locals) table[local].count = local + 1;
  table[900].first_time = TimeMs{Millis{12}};
  CHECK(table.size() == locals.size());
  std::size_t at = 0;
  for (const auto& [local, stats] : table) {
    CHECK(local == locals[at++]);
    CHECK(stats.count == local + 1);
    CHECK(stats.first_time.has_value() == (local == 900));
    CHECK(!stats.last_iteration);
  }
}

}  // namespace l4::job
