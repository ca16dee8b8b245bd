#include "aggregator/flows/losses.h"

#include <doctest/doctest.h>

namespace l4::flows {
namespace {

FlowRecord record(std::uint32_t exporter, std::uint64_t sequence, TimeNs end) {
  FlowRecord made;
  made.exporter = exporter;
  made.sequence = sequence;
  made.has_sequence = true;
  made.end = end;
  return made;
}

}  // namespace

TEST_CASE("a hole in the numbers of an exporter lies between two of its records") {
  Losses losses;
  CHECK_FALSE(losses.is_known());
  losses.add(record(1, 10, 100));
  losses.add(record(2, 500, 150));
  losses.add(record(1, 11, 200));
  CHECK(losses.lost() == 0);
  losses.add(record(1, 15, 300));
  CHECK(losses.is_known());
  CHECK(losses.lost() == 3);
  CHECK(losses.is_lossy(1, 250, 260));
  CHECK(losses.is_lossy(1, 290, 900));
  CHECK_FALSE(losses.is_lossy(1, 301, 900));
  CHECK_FALSE(losses.is_lossy(1, 0, 199));
  CHECK_FALSE(losses.is_lossy(2, 0, 900));
  CHECK_FALSE(losses.is_lossy(99, 0, 900));
}

TEST_CASE("a record that comes late is no loss") {
  Losses losses;
  for (const std::uint64_t sequence : {5, 7, 6, 8}) losses.add(record(0, sequence, 100));
  CHECK(losses.lost() == 1);
}

TEST_CASE("an exporter that begins anew has lost nothing") {
  Losses losses;
  FlowRecord record;
  record.exporter = 0;
  record.has_sequence = true;
  for (const std::uint64_t sequence : {0xffff'fffeULL, 0xffff'ffffULL, 0ULL, 1ULL, 3ULL}) {
    record.sequence = sequence;
    losses.add(record);
  }
  CHECK(losses.lost() == 1);
}

}  // namespace l4::flows
