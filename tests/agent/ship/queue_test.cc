#include "agent/ship/queue.h"

#include <doctest/doctest.h>

#include <random>

#include "agent/ship/backoff.h"
#include "agent/ship/fit.h"
#include "common/wire/codec/batch_codec.h"
#include "tests/common/wire/codec/random_batch.h"
#include "tests/temp_folder.h"

namespace l4::ship {
namespace {

Held held_of(std::size_t bytes, std::uint64_t number) {
  Held held;
  held.sequence = number;
  held.encoded = wire::Bytes(bytes, static_cast<std::byte>(number));
  return held;
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST_CASE("ship queue: memory first, then the spool, in order") {
  const test::TempFolder folder;
  Queue queue({1'000, 10'000, 100, folder.path()});
  for (std::uint64_t i = 1; i <= 20; ++i) {
    REQUIRE(queue.has_room(300));
    queue.push(held_of(300, i));
  }
  CHECK(queue.bytes() == 6'000);
  CHECK(queue.spool_bytes() == 5'100);
  CHECK(queue.fill() == doctest::Approx(6'000.0 / 11'000));
  CHECK(files_in(folder.path()) == 1);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    CHECK(queue.load(0) == wire::Bytes(300, static_cast<std::byte>(i)));
    CHECK(queue.pop_front().sequence == i);
  }
  CHECK(queue.bytes() == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("ship queue: when all is full there is no room") {
  const test::TempFolder folder;
  Queue queue({1'000, 1'000, 100, folder.path()});
  std::uint64_t taken = 0;
  while (queue.has_room(300)) queue.push(held_of(300, ++taken));
  CHECK(taken == 6);
  Queue many({1'000'000, 0, 5, {}});
  taken = 0;
  while (many.has_room(10)) many.push(held_of(10, ++taken));
  CHECK(taken == 5);
  CHECK(many.fill() == 1.0);
}

TEST_CASE("ship queue: a spool that cannot be written costs nothing, and is tried again") {
  const test::TempFolder folder;
  const auto file = folder.file("spool", "a file where the folder should be");
  Queue queue({1'000, 10'000, 100, file});
  std::uint64_t taken = 0;
  while (queue.has_room(300)) queue.push(held_of(300, ++taken));
  CHECK(taken == 4);  // three fit into memory, and the fourth failed on the disk
  CHECK_FALSE(queue.disk_error().empty());
  queue.retry_disk();
  CHECK_FALSE(queue.disk_error().empty());
  std::filesystem::remove(file);
  queue.retry_disk();
  CHECK(queue.disk_error().empty());
  CHECK(queue.has_room(300));
  for (std::uint64_t i = 1; i <= taken; ++i)
    CHECK(queue.load(i - 1) == wire::Bytes(300, static_cast<std::byte>(i)));
}

TEST_CASE("ship queue: damage in the spool is noticed, old spools are removed") {
  const test::TempFolder folder;
  folder.file("17.spool", "of a former run");
  folder.file("other.txt", "not ours");
  Queue queue({100, 10'000, 100, folder.path()});
  CHECK(files_in(folder.path()) == 1);
  queue.push(held_of(300, 1));
  queue.push(held_of(300, 2));
  std::fstream file(folder.path() / "1.spool", std::ios::in | std::ios::out);
  file.seekp(10);
  file << "x";
  file.close();
  CHECK(queue.load(0).has_value());
  CHECK(queue.load(1).error().reason == "is not what was written");
  std::filesystem::resize_file(folder.path() / "1.spool", 100);
  CHECK(queue.load(1).error().reason == "is shorter than it was written");
}

TEST_CASE("ship back-off: full jitter under a bound that doubles") {
  Backoff backoff(Millis{100}, Millis{10'000}, 1);
  Millis most{0};
  for (int i = 0; i < 200; ++i) {
    const Millis wait = backoff.next();
    CHECK(wait >= Millis{0});
    CHECK(wait <= std::min(Millis{10'000}, Millis{100 << std::min(i, 16)}));
    most = std::max(most, wait);
  }
  CHECK(most > Millis{9'000});
  backoff.reset();
  CHECK(backoff.next() <= Millis{100});
}

wire::Batch big_batch(std::size_t segments, std::size_t templates) {
  wire::Batch batch;
  batch.agent = "node";
  batch.coverage.push_back({"log", {0, 100}, 10, 100, {1, 0, 0, 0, 0}});
  for (std::size_t i = 0; i < templates; ++i) {
    wire::TemplateDefinition definition;
    definition.id = LocalTemplateId{static_cast<std::uint32_t>(i)};
    definition.text = std::string(1000, 'x');
    batch.templates.push_back(definition);
  }
  for (std::size_t i = 0; i < segments; ++i) {
    wire::Segment segment;
    segment.events.resize(20);
    segment.order.resize(1000);
    segment.parameters.resize(10);
    batch.segments.push_back(segment);
  }
  return batch;
}

TEST_CASE("ship fit: what fits stays as it is") {
  ShedCounts counts;
  const auto batch = big_batch(2, 2);
  const auto fitted = fit(batch, 1 << 20, 7, counts);
  REQUIRE(fitted.size() == 1);
  CHECK(fitted[0].batch.sequence == 7);
  CHECK(fitted[0].batch.segments == batch.segments);
  CHECK(counts.batches == 0);
}

TEST_CASE("ship fit: definitions go ahead, coverage stays with what it covers") {
  ShedCounts counts;
  const auto fitted = fit(big_batch(20, 3'000), 1 << 20, 1, counts);
  REQUIRE(fitted.size() > 2);
  std::size_t templates = 0, covered = 0;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    CHECK(fitted[i].encoded.size() <= 1u << 20);
    CHECK(fitted[i].batch.sequence == i + 1);
    CHECK(wire::decode(fitted[i].encoded) == fitted[i].batch);
    templates += fitted[i].batch.templates.size();
    covered += fitted[i].batch.coverage.size();
  }
  CHECK(templates == 3'000);
  CHECK(covered == 1);
  CHECK(fitted.back().batch.segments.size() == 20);
  CHECK(counts.batches == 0);
}

TEST_CASE("ship fit: at last counts are left out, said and counted") {
  ShedCounts counts;
  auto fitted = fit(big_batch(400, 0), 1 << 20, 1, counts);
  REQUIRE(fitted.size() == 1);
  CHECK(counts.order_runs == 400'000);
  CHECK(counts.parameter_tuples == 0);
  CHECK(counts.batches == 1);
  CHECK(fitted[0].batch.segments.size() == 400);
  fitted = fit(big_batch(20'000, 0), 1 << 20, 1, counts);
  REQUIRE(fitted.size() == 1);
  CHECK(counts.segments == 20'000);
  CHECK(counts.batches == 2);  // a batch counts once, however many steps shortened it
  CHECK(fitted[0].batch.coverage.size() == 1);
  CHECK(fitted[0].batch.warnings[0].kind == "shed");
  CHECK(fitted[0].batch.warnings[0].reason.ends_with("of a batch that was too long"));
}

TEST_CASE("ship shed: in the named order, each step with those before") {
  using wire::Shedding;
  CHECK(shedding_at(0.49) == Shedding::nothing);
  CHECK(shedding_at(0.5) == Shedding::examples);
  CHECK(shedding_at(0.7) == Shedding::order);
  CHECK(shedding_at(0.85) == Shedding::parameters);
  CHECK(shedding_at(1.0) == Shedding::counts);
  for (const auto step : {Shedding::nothing, Shedding::examples, Shedding::order,
                          Shedding::parameters, Shedding::counts}) {
    ShedCounts counts;
    auto batch = big_batch(1, 1);
    CHECK(shed(batch, step, ShedFor::pressure, counts) == (step >= Shedding::order));
    const auto& segment = batch.segments[0];
    CHECK(segment.order.empty() == (step >= Shedding::order));
    CHECK(segment.order_cut == (step >= Shedding::order));
    CHECK(segment.parameters.empty() == (step >= Shedding::parameters));
    CHECK(segment.events.empty() == (step >= Shedding::counts));
    CHECK(batch.templates.size() == 1);
    CHECK(counts.order_runs == (step >= Shedding::order ? 1000 : 0));
    CHECK(counts.parameter_tuples == (step >= Shedding::parameters ? 10 : 0));
    CHECK(counts.counts == (step >= Shedding::counts ? 20 : 0));
    CHECK(batch.warnings.size() == (step >= Shedding::counts ? 1 : 0));
  }
}

}  // namespace
}  // namespace l4::ship
