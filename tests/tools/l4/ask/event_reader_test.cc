#include "tools/l4/ask/event_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::ask {
namespace {

TEST_CASE("event reader: events come whole however they are cut") {
  const std::string text =
      "retry: 2000\n\n:\n\nid: a-1\nevent: incident\ndata: {\"x\": 1}\n\n"
      "id: a-2\r\nevent:job\r\ndata: one\r\ndata: two\r\n\r\nid: a-3\n\ndata: un";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EventReader reader;
    std::vector<StreamedEvent> events;
    for (std::size_t at = 0; at < text.size(); at += size)
      for (StreamedEvent& event : reader.feed(std::string_view(text).substr(at, size)))
        events.push_back(std::move(event));
    REQUIRE(events.size() == 2);
    CHECK(events[0].id == "a-1");
    CHECK(events[0].type == "incident");
    CHECK(events[0].data == "{\"x\": 1}");
    CHECK(events[1].type == "job");
    CHECK(events[1].data == "one\ntwo");
    CHECK(reader.last_id() == "a-3");
  }
}

TEST_CASE("event reader: what is too long is left out, and a new connection begins anew") {
  EventReader reader;
  CHECK(reader.feed("id: 1\ndata: " + std::string(3 << 20, 'x') + "\n\n").empty());
  CHECK(reader.last_id() == "1");
  CHECK(reader.feed("data: whole\n\n").size() == 1);
  CHECK(reader.feed("data: ha").empty());
  reader.begin();
  const auto events = reader.feed("data: new\n\n");
  REQUIRE(events.size() == 1);
  CHECK(events[0].data == "new");
  CHECK(reader.last_id() == "1");
}

}  // namespace
}  // namespace l4::ask
