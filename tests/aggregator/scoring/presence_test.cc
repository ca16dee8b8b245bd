#include "aggregator/scoring/presence.h"

#include <doctest/doctest.h>

#include "tests/aggregator/live/seconds.h"

namespace l4::scoring {
namespace {

using test::at;

TEST_CASE("presence: an agent that is there is seen until now") {
  Presence presence;
  CHECK(presence.seen_until("nobody", at(3)) == at(3));
  presence.connected("a", at(0));
  CHECK(presence.seen_until("a", at(4)) == at(0));  // a has just come
  CHECK(presence.seen_until("a", at(5)) == at(5));
}

TEST_CASE("presence: after a restart time stands still until all has arrived") {
  Presence presence;
  presence.expect("a", at(0), at(0));
  CHECK(presence.seen_until("a", at(100)) == at(0));
  presence.connected("a", at(200));
  presence.behind("a", true, at(200));
  CHECK(presence.seen_until("a", at(220)) == at(0));
  presence.behind("a", false, at(230));
  CHECK(presence.seen_until("a", at(231)) == at(231));
}

TEST_CASE("presence: who falls behind was seen until then; not for ever") {
  Presence presence;
  presence.connected("a", at(0));
  presence.behind("a", true, at(1'000));
  CHECK(presence.seen_until("a", at(1'100)) == at(1'000));
  CHECK(presence.seen_until("a", at(1'601)) == at(1'601));
}

TEST_CASE("presence: while the aggregator is blind nobody is seen, and a while after") {
  Presence presence;
  presence.connected("a", at(0));
  presence.connected("b", at(0));
  CHECK(presence.seen_until("a", at(99)) == at(99));
  presence.blind(at(90), at(100));
  CHECK(presence.seen_until("a", at(130)) == at(90));
  presence.connected("b", at(150));
  CHECK(presence.seen_until("b", at(155)) == at(90));
  presence.sighted(at(160));
  CHECK(presence.seen_until("a", at(189)) == at(90));
  CHECK(presence.seen_until("a", at(190)) == at(190));
  CHECK(presence.seen_until("b", at(190)) == at(190));
  presence.lost("a", at(200));
  CHECK(presence.seen_until("a", at(201)) == at(201));
}

TEST_CASE("presence: who is away holds time until it is heard or lost, however long") {
  Presence presence;
  for (const char* name : {"a", "b", "c"}) presence.connected(name, at(0));
  presence.blind(at(90), at(100));
  presence.away("a", at(91), at(400));
  presence.away("b", at(92), at(400));
  presence.forget_old(at(3'700));
  CHECK(presence.seen_until("a", at(3'700)) == at(90));
  CHECK(presence.seen_until("c", at(3'700)) == at(3'700));  // c was heard all the time
  presence.sighted(at(3'800));
  CHECK(presence.seen_until("a", at(3'900)) == at(90));
  presence.connected("a", at(3'900));
  CHECK(presence.seen_until("a", at(3'901)) == at(90));
  CHECK(presence.seen_until("a", at(3'905)) == at(3'905));
  presence.lost("b", at(3'910));
  CHECK(presence.seen_until("b", at(3'910)) == at(3'910));
  presence.away("c", at(4'000), at(4'100));  // c fell silent as the others came back
  CHECK(presence.seen_until("c", at(9'000)) == at(4'000));
}

TEST_CASE("presence: away comes back from what was saved") {
  Presence presence, loaded;
  presence.connected("a", at(0));
  presence.away("a", at(90), at(100));
  ByteWriter out;
  presence.save(out, [](const std::string&) { return true; });
  ByteReader in(out.bytes());
  loaded.load(in);
  CHECK(in.ok());
  CHECK(loaded.seen_until("a", at(9'000)) == at(90));
}

TEST_CASE("presence: after a long standstill, too, it waits for who is expected") {
  Presence presence;
  presence.expect("a", at(0), at(3'600));
  CHECK(presence.seen_until("a", at(3'700)) == at(0));
  CHECK(presence.seen_until("a", at(4'201)) == at(4'201));
}

TEST_CASE("presence: a stopped agent holds time, a lost one does not") {
  Presence presence;
  presence.connected("a", at(0));
  presence.left("a", at(50));
  CHECK(presence.seen_until("a", at(80)) == at(50));
  CHECK(presence.seen_until("a", at(651)) == at(651));
  presence.connected("b", at(0));
  presence.lost("b", at(50));
  CHECK(presence.is_lost("b"));
  CHECK(presence.seen_until("b", at(51)) == at(51));
  presence.forget_old(at(5'000));
  CHECK(presence.is_lost("b"));
  CHECK(presence.seen_until("a", at(51)) == at(51));
}

}  // namespace
}  // namespace l4::scoring
