#include "common/wire/codec/control_codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "common/wire/port.h"
#include "schemas/control.capnp.h"

using namespace l4::wire;
using l4::Millis;
using l4::TimeMs;

namespace {

PositionPage page_of(std::size_t files) {
  PositionPage page;
  for (std::size_t i = 1; i <= files; ++i)
    page.positions.push_back({{i, 2, 3, 4, 5}, "dir/log-" + std::to_string(i), 100 * i, i});
  page.more = files > 0;
  return page;
}

/// One filled message of each kind.
std::vector<Control> all_kinds() {
  Hello hello{1, 3, 0xff, "node-0", 77, "boot", "l4 1.0", 1, 2, 3};
  Welcome welcome{1, 2, 3, "l4 1.0", 8, 3'000, 1 << 20, 99, page_of(3)};
  Heartbeat beat{5,
                 TimeMs{Millis{1'700'000'000'000}},
                 6,
                 true,
                 Millis{-40},
                 Millis{3},
                 7,
                 8,
                 Shedding::order,
                 {9, 10},
                 {"source \"/logs/*\" matches no log: /logs is empty"}};
  HeartbeatReply reply{5, TimeMs{Millis{1}}, TimeMs{Millis{2}}, 3, 4, 8};
  Want want{4, {{1, 100}, {2, 200}}};
  const Bytes body(24, std::byte{7});
  return {hello,
          welcome,
          MorePositions{12},
          page_of(2),
          beat,
          reply,
          Ack{9, 8},
          want,
          Refuse{RefuseReason::busy, "later", 5'000, 3},
          Bye{"stopped"},
          Ask{1, "lines", body},
          Answer{1, "lines", body, false}};
}

std::string refusal_of(const Envelope& envelope) {
  const auto decoded = decode_control(encode(envelope));
  return decoded ? std::string() : decoded.error().text();
}

}  // namespace

TEST_CASE("control: every kind comes back as it went") {
  for (const Control& message : all_kinds()) {
    const auto decoded = decode_control(encode(Envelope{42, message}));
    REQUIRE(decoded.has_value());
    CHECK(decoded->session == 42);
    REQUIRE(decoded->message.index() == message.index());
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (!std::is_same_v<T, BatchFrame>)
            CHECK(std::get<T>(decoded->message) == value);
        },
        message);
  }
}

TEST_CASE("control: a want with the fields of former versions is read without them") {
  capnp::MallocMessageBuilder message;
  auto envelope = message.initRoot<l4::schema::Envelope>();
  envelope.setSession(42);
  auto want = envelope.initWant();
  want.setNumber(3);
  want.initObsoleteTemplates(2).set(1, 7);
  want.setObsoleteJob("job");
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  const auto decoded = decode_control(std::as_bytes(std::span(words.begin(), words.size())));
  REQUIRE(decoded.has_value());
  CHECK(std::get<Want>(decoded->message) == Want{3, {}});
}

TEST_CASE("control: a batch's body lies in the message, on a word boundary or not") {
  Bytes body(1000);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::byte>(i);
  const Bytes message = encode(Envelope{1, BatchFrame{3, body}});
  CHECK(message.size() <= body.size() + kEnvelopeBytesMax);
  for (const std::size_t shift : {0u, 3u}) {
    Bytes moved(message.size() + shift);
    std::memcpy(moved.data() + shift, message.data(), message.size());
    const auto decoded = decode_control({moved.data() + shift, message.size()});
    REQUIRE(decoded.has_value());
    const auto& frame = std::get<BatchFrame>(decoded->message);
    CHECK(frame.number == 3);
    CHECK(frame.body.data() > moved.data());
    CHECK(Bytes(frame.body.begin(), frame.body.end()) == body);
  }
}

TEST_CASE("control: what breaks a rule is refused with the field's name") {
  Hello hello;
  CHECK(refusal_of({1, hello}) == "hello.agent: not the name of a node");
  for (const char* name : {"a b", "../x", ".a", "-a", "a\n", "*", "é"}) {
    hello.agent = name;
    CHECK(refusal_of({1, hello}).contains("hello.agent"));
  }
  hello.agent = std::string(kNameBytesMax + 1, 'a');
  CHECK(refusal_of({1, hello}).contains("too long"));
  hello.agent = "node";
  hello.version_min = 2;
  CHECK(refusal_of({1, hello}).contains("hello.version_min"));
  PositionPage page = page_of(2);
  page.positions[1].file.key = 1;
  CHECK(refusal_of({1, page}).contains("keys do not ascend"));
  PositionPage empty;
  empty.more = true;
  CHECK(refusal_of({1, empty}).contains("empty page"));
  Heartbeat beat;
  beat.released.resize(kReleasedMax + 1);
  CHECK(refusal_of({1, beat}).contains("heartbeat.released"));
  beat.released.clear();
  beat.wall = TimeMs{Millis::max()};
  CHECK(refusal_of({1, beat}).contains("heartbeat.wall"));
  CHECK(refusal_of({1, Bye{std::string(kControlTextBytesMax + 1, 'x')}}).contains("bye"));
}

TEST_CASE("control: a reason of a later version is still a refusal") {
  const auto decoded =
      decode_control(encode(Envelope{1, Refuse{static_cast<RefuseReason>(200), "new", 0, 0}}));
  REQUIRE(decoded.has_value());
  CHECK(std::get<Refuse>(decoded->message).reason == RefuseReason::busy);
}

TEST_CASE("control: no bytes, odd sizes, too many, noise and truncation") {
  CHECK_FALSE(decode_control({}).has_value());
  CHECK_FALSE(decode_control(Bytes(17)).has_value());
  CHECK(decode_control(Bytes(kWireMessageBytesMax + 8)).error().reason == "longer than 1 MiB");
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    Bytes noise(8 * (random() % 40));
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random() % (i % 2 == 0 ? 256 : 3));
    const auto decoded = decode_control(noise);
    if (!decoded) CHECK_FALSE(decoded.error().reason.empty());
  }
  for (const Control& message : all_kinds()) {
    const Bytes whole = encode(Envelope{42, message});
    for (std::size_t size = 0; size < whole.size(); size += 8)
      CHECK_FALSE(decode_control({whole.data(), size}).has_value());
  }
}

TEST_CASE("control: a page of positions is as long as foretold") {
  const PositionPage page = page_of(500);
  std::size_t bytes = 0;
  for (const Position& position : page.positions) bytes += encoded_bytes(position);
  const std::size_t real = encode(Envelope{1, page}).size();
  CHECK(real <= bytes + kEnvelopeBytesMax);
  CHECK(real + kEnvelopeBytesMax >= bytes);
}
