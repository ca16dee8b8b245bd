#include "common/wire/codec/batch_codec.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <string>

#include "tests/common/wire/codec/random_batch.h"

using namespace l4;
using namespace l4::wire;

namespace {

constexpr std::uint64_t kSeed = 20261120;

Segment segment_with_everything() {
  Segment segment;
  segment.source = SourceId{3};
  segment.stage = Stage::training;
  segment.iteration = Iteration{1207};
  segment.boundary = Boundary::completed;
  segment.begin = TimeMs{Millis{1}};
  segment.end = TimeMs{Millis{-5}};
  segment.bytes = {10, 20};
  segment.lines = {1, 2};
  segment.updates = 9;
  segment.events = {{LocalTemplateId{4}, 2, 1, TimeMs{Millis{0}}}};
  segment.order = {{LocalTemplateId{4}, 2}};
  segment.order_cut = true;
  segment.parameters = {{LocalTemplateId{4}, 1, {{ParameterKind::code, "Xid 79"}}}};
  segment.timers = {{0, 2, 1.5, 1.0}};
  return segment;
}

std::string refused(const Batch& batch) {
  const auto decoded = decode(encode(batch));
  REQUIRE_FALSE(decoded.has_value());
  return decoded.error().where;
}

}  // namespace

TEST_CASE("codec: an empty batch and one with everything come back as they were") {
  Batch batch;
  CHECK(decode(encode(batch)).value() == batch);
  batch.agent = "node-07";
  batch.sequence = std::numeric_limits<std::uint64_t>::max();
  batch.segments = {segment_with_everything(), Segment{}};
  batch.warnings = {{"lost", "a.log", "rotated away", 4096}};
  CHECK(decode(encode(batch)).value() == batch);
}

TEST_CASE("codec: decoding is the inverse of encoding") {
  INFO("seed ", kSeed);
  RandomBatch make(kSeed);
  for (int i = 0; i < 600; ++i) {
    INFO("batch ", i);
    const Batch batch = make.batch();
    const Bytes bytes = encode(batch);
    const auto decoded = decode(bytes);
    if (!decoded) FAIL(decoded.error().text());
    REQUIRE(*decoded == batch);
    REQUIRE(encode(*decoded) == bytes);
  }
}

TEST_CASE("codec: a message is read wherever it stands in memory") {
  RandomBatch make(kSeed + 1);
  const Batch batch = make.batch();
  const Bytes bytes = encode(batch);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    Bytes moved(bytes.size() + shift);
    std::memcpy(moved.data() + shift, bytes.data(), bytes.size());
    CHECK(decode(std::span(moved).subspan(shift)).value() == batch);
  }
}

TEST_CASE("codec: the message is one segment, header and exact words") {
  RandomBatch make(kSeed + 2);
  for (int i = 0; i < 50; ++i) {
    const Bytes bytes = encode(make.batch());
    std::uint32_t header[2];
    std::memcpy(header, bytes.data(), sizeof header);
    CHECK(header[0] == 0);
    CHECK(header[1] == bytes.size() / 8 - 1);
  }
}

TEST_CASE("codec: an error names the field") {
  Batch batch;
  batch.segments = {Segment{}, segment_with_everything()};
  Segment& segment = batch.segments[1];

  segment.bytes = {2, 1};
  CHECK(refused(batch) == "segments[1].bytes");
  segment = segment_with_everything();
  segment.lines = {2, 1};
  CHECK(refused(batch) == "segments[1].lines");
  segment = segment_with_everything();
  segment.stage = static_cast<Stage>(77);
  CHECK(refused(batch) == "segments[1].stage");
  segment = segment_with_everything();
  segment.order.assign(kOrderRunsMax + 1, {LocalTemplateId{1}, 1});
  CHECK(refused(batch) == "segments[1].order");
  segment = segment_with_everything();
  segment.parameters[0].values[0].kind = static_cast<ParameterKind>(200);
  CHECK(refused(batch) == "segments[1].parameters[0].values[0].kind");
  segment = segment_with_everything();
  segment.timers[0].max_ms = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused(batch) == "segments[1].timers[0].max_ms");
  segment = segment_with_everything();

  batch.templates.resize(1);
  batch.templates[0].text.assign(kTemplateTextBytesMax + 1, 'x');
  CHECK(refused(batch) == "templates[0].text");
  batch.templates[0].text.clear();
  batch.templates[0].skeletons.resize(kSkeletonsMax + 1);
  CHECK(refused(batch) == "templates[0].skeletons");
  batch.templates.clear();

  batch.sources.resize(1);
  batch.sources[0].user.assign(kUserBytesMax + 1, 'u');
  CHECK(refused(batch) == "sources[0].user");
}

TEST_CASE("batch: windows of numbers that cannot be are refused with their place") {
  const auto refused_with = [](auto change) {
    Batch batch;
    batch.figures.resize(2);
    for (FigureWindow& window : batch.figures) window.count = 3;
    change(batch.figures[1]);
    const auto read = decode(encode(batch));
    return read ? std::string() : read.error().where;
  };
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused_with([](FigureWindow&) {}).empty());
  CHECK(refused_with([](FigureWindow& w) { w.final = kNone; }).empty());
  CHECK(refused_with([](FigureWindow& w) { w.median = kNone; }) == "figures[1].median");
  CHECK(refused_with([](FigureWindow& w) { w.not_finite = 4; }) == "figures[1].count");
  CHECK(refused_with([](FigureWindow& w) { w.run = 4; }) == "figures[1].count");
  CHECK(refused_with([](FigureWindow& w) { w.count = 0; }) == "figures[1].count");
  CHECK(refused_with([](FigureWindow& w) { w.name.assign(kFigureNameBytesMax + 1, 'n'); }) ==
        "figures[1].name");
  Batch batch;
  batch.readings.resize(1);
  batch.readings[0].timed = 1;
  CHECK(decode(encode(batch)).error().where == "readings[0].timed");
}

TEST_CASE("codec: a process that cannot be is refused by its field") {
  Batch batch;
  batch.processes.resize(2);
  ProcessFact& fact = batch.processes[1];
  fact.boot_id.assign(kBootIdBytesMax, 'b');
  fact.command.assign(kCommandBytesMax, 'c');
  fact.node.assign(kProcessNameBytesMax, 'n');
  fact.job.assign(kProcessNameBytesMax, 'j');
  const ProcessFact good = fact;
  CHECK(decode(encode(batch)).value() == batch);
  const auto refused_with = [&](auto change) {
    fact = good;
    change(fact);
    return refused(batch);
  };
  using Fact = ProcessFact;
  CHECK(refused_with([](Fact& f) { f.boot_id += 'b'; }) == "processes[1].boot_id");
  CHECK(refused_with([](Fact& f) { f.command += 'c'; }) == "processes[1].command");
  CHECK(refused_with([](Fact& f) { f.node += 'n'; }) == "processes[1].node");
  CHECK(refused_with([](Fact& f) { f.job += 'j'; }) == "processes[1].job");
  CHECK(refused_with([](Fact& f) { f.pid = Pid{-1}; }) == "processes[1].pid");
  CHECK(refused_with([](Fact& f) { f.cpu = Millis{-1}; }) == "processes[1].cpu");
  CHECK(refused_with([](Fact& f) { f.since = TimeMs::max(); }) == "processes[1].since");
  CHECK(refused_with([](Fact& f) { f.started = TimeMs::min(); }) == "processes[1].started");
  CHECK(refused_with([](Fact& f) { f.state = static_cast<ProcessState>(7); }) ==
        "processes[1].state");
  CHECK(refused_with([](Fact& f) { f.part = static_cast<Part>(4); }) == "processes[1].part");
  CHECK(refused_with([](Fact& f) { f.exit.kind = static_cast<Exit::Kind>(3); }) ==
        "processes[1].exit.kind");
  CHECK(refused_with([](Fact& f) { f.exit.by = static_cast<Exit::Seen>(4); }) ==
        "processes[1].exit.by");
}

TEST_CASE("codec: a message may hold forgotten templates and little else") {
  Batch batch;
  for (std::uint32_t id = 0; id < 10'001; ++id) batch.forgotten.emplace_back(3 * id);
  CHECK(decode(encode(batch)).value() == batch);
}

TEST_CASE("codec: negative ranks and iterations become none") {
  Batch batch;
  batch.sources.resize(1);
  batch.sources[0].rank = Rank{-7};
  CHECK_FALSE(decode(encode(batch)).value().sources[0].rank.has_value());
}

TEST_CASE("codec: what is no message is refused") {
  CHECK_FALSE(decode({}).has_value());
  CHECK_FALSE(decode(Bytes(7)).has_value());
  CHECK_FALSE(decode(Bytes(24, std::byte{0xff})).has_value());
  const Bytes bytes = encode(Batch{});
  CHECK_FALSE(decode(std::span(bytes).first(bytes.size() - 8)).has_value());
}

TEST_CASE("codec: a broken pointer is named") {
  Batch batch;
  batch.agent = "node-07";
  Bytes bytes = encode(batch);
  // Words: header, root pointer, 3 of data, then the pointers; the first is `agent`.
  const std::uint64_t far_away = 0x7ffffff1;
  std::memcpy(bytes.data() + 8 * 5, &far_away, sizeof far_away);
  const auto decoded = decode(bytes);
  REQUIRE_FALSE(decoded.has_value());
  CHECK(decoded.error().where == "agent");
}

TEST_CASE("codec: a small message can not become a huge batch") {
  // `segments` as a list of 2^20 bytes, which Cap'n Proto would read as 2^20 empty structs.
  Bytes bytes(8 * 12 + (1u << 20));
  const auto put = [&](std::size_t word, std::uint64_t value) {
    std::memcpy(bytes.data() + 8 * word, &value, sizeof value);
  };
  put(0, (bytes.size() / 8 - 1) << 32);
  put(1, (std::uint64_t{7} << 48) | (std::uint64_t{2} << 32));
  const std::uint64_t offset = 10 - (2 + 2 + 4) + 1;  // from the word behind the pointer
  put(2 + 2 + 4, 1 | (offset << 2) | (std::uint64_t{2} << 32) | (std::uint64_t{1 << 20} << 35));
  const auto decoded = decode(bytes);
  REQUIRE_FALSE(decoded.has_value());
  CHECK(decoded.error().text() == "segments: more elements than the message has words");
}

TEST_CASE("codec: mutated and cut messages never crash") {
  INFO("seed ", kSeed);
  RandomBatch make(kSeed + 3);
  auto& random = make.engine();
  int read = 0;
  for (int i = 0; i < 4000; ++i) {
    Bytes bytes = encode(make.batch());
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    const std::size_t hits = 1 + random() % 8;
    for (std::size_t k = 0; k < hits && !bytes.empty(); ++k) {
      std::byte& victim = bytes[random() % bytes.size()];
      victim = random() % 2 ? std::byte(random()) : victim ^ std::byte(1u << random() % 8);
    }
    const auto decoded = decode(bytes);
    if (decoded) ++read;
    if (!decoded) CHECK_FALSE(decoded.error().reason.empty());
  }
  MESSAGE(read, " of 4000 mutated messages could still be read");
}
