#include "aggregator/flows/events.h"

#include <doctest/doctest.h>

namespace l4::flows {
namespace {

struct Kept {
  std::vector<Event> events;
  void operator()(const Event& event) { events.push_back(event); }
};

Part part(std::uint32_t edge, TimeNs start_ms, TimeNs end_ms) {
  return {edge, start_ms * kMillisecond, end_ms * kMillisecond, 1'000'000};
}

}  // namespace

TEST_CASE("edges that end together are one event, closed when it is complete") {
  Kept kept;
  Assembler assembler(3, {});
  assembler.add(part(0, 0, 100), std::ref(kept));
  assembler.add(part(1, 20, 101), std::ref(kept));
  CHECK(kept.events.empty());
  assembler.add(part(2, 10, 100), std::ref(kept));
  REQUIRE(kept.events.size() == 1);
  CHECK(kept.events[0].first_start == 0);
  CHECK(kept.events[0].end == 101 * kMillisecond);
  CHECK(kept.events[0].transfer() == 81 * kMillisecond);  // since the last one came
}

TEST_CASE("collectives that follow each other closely stay apart") {
  Kept kept;
  Assembler assembler(2, {});
  assembler.add(part(0, 0, 100), std::ref(kept));
  assembler.add(part(0, 100, 101), std::ref(kept));  // the same edge: the next collective
  assembler.add(part(1, 0, 100), std::ref(kept));
  assembler.add(part(1, 100, 101), std::ref(kept));
  REQUIRE(kept.events.size() == 2);
  CHECK(kept.events[0].parts.size() == 2);
  CHECK(kept.events[1].parts.size() == 2);
}

TEST_CASE("an event that lacks an edge is closed when time has passed it") {
  Kept kept;
  Assembler assembler(3, {});
  assembler.add(part(0, 0, 100), std::ref(kept));
  assembler.add(part(1, 0, 100), std::ref(kept));
  assembler.add(part(0, 0, 140), std::ref(kept));
  CHECK(kept.events.empty());
  assembler.add(part(1, 0, 500), std::ref(kept));
  REQUIRE(kept.events.size() == 2);
  CHECK(kept.events[0].parts.size() == 2);
}

TEST_CASE("open events are bounded") {
  Kept kept;
  EventSettings settings;
  settings.hold = 1000 * kSecond;
  Assembler assembler(2, settings);
  for (TimeNs i = 0; i < 1000; ++i) assembler.add(part(0, i * 10, i * 10 + 5), std::ref(kept));
  CHECK(assembler.open().size() <= Assembler::kPendingMax);
}

}  // namespace l4::flows
