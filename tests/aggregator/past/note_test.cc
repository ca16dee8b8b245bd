#include "aggregator/past/note.h"

#include <doctest/doctest.h>

namespace l4::past {

TEST_CASE("note: comes back as it was, and what is none is none") {
  using Kind = receive::AgentEvent::Kind;
  const TimeMs at{Millis{1'800'000'000'123}}, heard{Millis{1'800'000'000'000}};
  for (const Kind kind : {Kind::hello, Kind::lost, Kind::blind, Kind::sighted, Kind::away}) {
    receive::AgentEvent event;
    event.kind = kind;
    event.agent = "node-1";
    event.at = at;
    event.heard = heard;
    const auto note = decode_note(encode({event, at}).bytes());
    REQUIRE(note);
    REQUIRE(note->event);
    CHECK(note->event->kind == kind);
    CHECK(note->event->agent == "node-1");
    CHECK(note->event->at == at);
    CHECK(note->event->heard == heard);
  }
  const ByteWriter started = encode({{}, at});
  const auto note = decode_note(started.bytes());
  REQUIRE(note);
  CHECK_FALSE(note->event);
  CHECK(note->at == at);
  const ByteWriter event = encode({receive::AgentEvent{Kind::left, "node-1", {}, {}, at, at}, at});
  for (std::size_t size = 0; size < event.size(); ++size)
    CHECK_FALSE(decode_note(event.bytes().first(size)));
  ByteWriter other;
  other.byte(0x77);
  other.signed_number(1);
  other.text("node-1");
  other.signed_number(1);
  CHECK_FALSE(decode_note(other.bytes()));
}

}  // namespace l4::past
