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

TEST_CASE("templates leave, the others stay as they are") {
  EventTable table;
  for (const std::uint32_t local : {7U, 3U, 900U, 0U, 5U}) table[local].count = local + 1;
  table.erase({3, 4, 900});
  CHECK(table.size() == 3);
  CHECK(+table[5].count == 6);
  CHECK(+table[7].count == 8);
  CHECK(+table[0].count == 1);
  CHECK(+table[900].count == 0);
  CHECK(table.size() == 4);
  std::vector<std::uint32_t> order;
  for (const auto& [local, stats] : table) order.push_back(local);
  CHECK(order == std::vector<std::uint32_t>{7, 0, 5, 900});
}

}  // namespace l4::job
