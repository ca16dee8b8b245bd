#include "aggregator/store/checkpoints.h"

#include <doctest/doctest.h>

#include "tests/aggregator/store/model_files.h"
#include "tests/aggregator/store/numbered.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

const Path kCheckpointsFolder = "/state/checkpoints";

Checkpoints opened(ModelFiles& files, CheckpointOptions options = {}) {
  return *Checkpoints::open(files, kCheckpointsFolder, options);
}

CheckpointHead head(const std::string& name, std::uint64_t position) {
  return {name, Seq{position}, Seq{position / 2}, at_ms(static_cast<std::int64_t>(position)),
          false};
}

}  // namespace

TEST_CASE("checkpoints: the newest comes back, the older goes once it is verified") {
  ModelFiles files;
  Checkpoints checkpoints = opened(files);
  CHECK(checkpoints.write(head("job/a b/c", 10), bytes_of("ten")));
  CHECK(checkpoints.write(head("offsets", 11), bytes_of("eleven")));
  CHECK(checkpoints.write(head("job/a b/c", 20), bytes_of("twenty")));
  CHECK(files.list(kCheckpointsFolder)->size() == 2);
  files.power_cut();
  Checkpoints again = opened(files);
  CHECK(again.names() == std::vector<std::string>{"job/a b/c", "offsets"});
  const auto found = again.load("job/a b/c");
  REQUIRE(found);
  CHECK(text_of(found->bytes) == "twenty");
  CHECK(found->head.position == Seq{20});
  CHECK(found->head.floor == Seq{10});
  CHECK(found->head.time == at_ms(20));
  CHECK_FALSE(found->head.closed);
  CHECK_FALSE(again.load("job/b"));
}

TEST_CASE("checkpoints: any one failure leaves a valid one; power cut or not") {
  for (std::uint64_t n = 1; n < 14; ++n) {
    for (const bool cut : {false, true}) {
      INFO("call ", n, " cut ", cut);
      ModelFiles files(n);
      Checkpoints checkpoints = opened(files);
      REQUIRE(checkpoints.write(head("offsets", 10), bytes_of("ten")));
      files.fail(n, 1);
      const bool done = checkpoints.write(head("offsets", 20), bytes_of("twenty")).has_value();
      files.heal();
      if (cut) files.power_cut();
      const auto found = opened(files).load("offsets");
      REQUIRE(found);
      CHECK((text_of(found->bytes) == "twenty" || (!done && text_of(found->bytes) == "ten")));
      Checkpoints again = opened(files);
      CHECK(again.write(head("offsets", 30), bytes_of("thirty")));
      CHECK(files.list(kCheckpointsFolder)->size() == 1);
    }
  }
}

TEST_CASE("checkpoints: a damaged one is reported and the older one loaded") {
  ModelFiles files;
  Checkpoints checkpoints = opened(files);
  CHECK(checkpoints.write(head("offsets", 10), bytes_of("ten")));
  const std::string older = files.list(kCheckpointsFolder)->front();
  const Bytes kept = files.content(kCheckpointsFolder / older);
  CHECK(checkpoints.write(head("offsets", 20), bytes_of("twenty")));
  const std::string newer = files.list(kCheckpointsFolder)->front();
  static_cast<void>(*files.create(kCheckpointsFolder / older));
  files.content(kCheckpointsFolder / older) = kept;
  for (std::size_t at = 0; at < files.content(kCheckpointsFolder / newer).size(); ++at) {
    ModelFiles damaged(1);
    for (const std::string& name : {older, newer}) {
      static_cast<void>(*damaged.create(kCheckpointsFolder / name));
      damaged.content(kCheckpointsFolder / name) = files.content(kCheckpointsFolder / name);
    }
    damaged.content(kCheckpointsFolder / newer)[at] ^= std::byte{0x40};
    Checkpoints again = opened(damaged);
    const auto found = again.load("offsets");
    REQUIRE(found);
    CHECK(text_of(found->bytes) == "ten");
    CHECK(again.damaged() == 1);
    REQUIRE(again.drain_trouble().size() == 1);
  }
}

TEST_CASE("checkpoints: leftovers are removed, sizes and ages are bounded") {
  ModelFiles files;
  CheckpointOptions options;
  options.bytes_max = 4000;
  options.one_bytes_max = 2000;
  Checkpoints checkpoints = opened(files, options);
  CHECK_FALSE(checkpoints.write(head("a", 1), Bytes(2001)));
  CHECK(checkpoints.write(head("a", 1), Bytes(1500)));
  CHECK(checkpoints.write(head("b", 2), Bytes(1200)));
  CHECK_FALSE(checkpoints.write(head("c", 3), Bytes(1500)));
  static_cast<void>(*files.create(kCheckpointsFolder / "x.l4c.new"));
  static_cast<void>(*files.create(kCheckpointsFolder / "y.l4c"));
  Checkpoints again = opened(files, options);
  CHECK(again.names() == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(files.has(kCheckpointsFolder / "x.l4c.new"));
  CHECK(files.has(kCheckpointsFolder / "y.l4c.bad"));
  CHECK(again.expire(at_ms(2), [](const std::string& name) { return name == "a"; }) == 0);
  CHECK(again.expire(at_ms(2), [](const std::string&) { return false; }) == 1);
  CHECK(again.names() == std::vector<std::string>{"b"});
  CHECK(again.remove("b"));
  CHECK(again.bytes() == 0);
}

namespace {

/// Writes a checkpoint each 30 s from the first minute on, a hundred numbers apart, as an
/// aggregator does.
void write_on(Checkpoints& checkpoints, const std::string& name, int first, int last,
              std::uint64_t ring_first, std::size_t bytes = 100) {
  for (int i = first; i <= last; ++i) {
    const CheckpointHead made{
        name, Seq{static_cast<std::uint64_t>(i) * 100}, {}, at_ms(i * 30'000), false};
    CHECK(checkpoints.write(made, Bytes(bytes), Ring{Seq{ring_first}, made.position}));
  }
}

std::vector<std::uint64_t> positions(const Checkpoints& checkpoints, const std::string& name) {
  std::vector<std::uint64_t> found;
  for (const SavedState& state : checkpoints.states(name)) found.push_back(state.position.value());
  return found;
}

}  // namespace

TEST_CASE("checkpoints: older ones stay at a distance, and are removed with the ring") {
  ModelFiles files;
  Checkpoints checkpoints = opened(files);
  write_on(checkpoints, "job/a", 1, 200, 1);
  const auto kept = positions(checkpoints, "job/a");
  CHECK(kept.front() == 100);
  CHECK(kept.back() == 20'000);
  CHECK(kept.size() <= 24);  // a hundred minutes, five apart
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) CHECK(kept[i + 1] - kept[i] <= 1'000);
  for (std::size_t i = 0; i + 2 < kept.size(); ++i) CHECK(kept[i + 2] - kept[i] > 1'000);
  Checkpoints again = opened(files);
  CHECK(positions(again, "job/a") == kept);
  CHECK(again.load("job/a")->head.position == Seq{20'000});
  for (const SavedState& state : again.states("job/a")) {
    const auto found = again.read(state.path);
    REQUIRE(found);
    CHECK(found->head.position == state.position);
    CHECK(found->head.time == state.time);
  }
  write_on(again, "job/b", 200, 200, 19'000);
  for (const std::uint64_t position : positions(again, "job/a")) CHECK(position >= 18'999);
  write_on(again, "job/a", 201, 201, 30'000);
  CHECK(positions(again, "job/a") == std::vector<std::uint64_t>{20'100});
  CHECK(again.past_bytes() == 0);
}

TEST_CASE("checkpoints: in a short ring older ones lie closer together") {
  ModelFiles files;
  Checkpoints checkpoints = opened(files);
  for (int i = 10; i <= 40; ++i)
    write_on(checkpoints, "job/a", i, i, static_cast<std::uint64_t>(i - 8) * 100);
  const auto kept = positions(checkpoints, "job/a");
  CHECK(kept.size() >= 8);
  CHECK(kept.front() <= 3'300);
}

TEST_CASE("checkpoints: those for the past are evicted first, oldest first") {
  ModelFiles files;
  CheckpointOptions options;
  options.past_every = Millis{1};
  options.past_bytes_max = 20'000;
  options.bytes_max = 30'000;
  Checkpoints checkpoints = opened(files, options);
  write_on(checkpoints, "job/a", 1, 10, 1, 3'500);
  write_on(checkpoints, "job/b", 11, 20, 1, 3'500);
  CHECK(checkpoints.past_bytes() <= 20'000);
  CHECK(positions(checkpoints, "job/a") == std::vector<std::uint64_t>{1'000});
  CHECK(positions(checkpoints, "job/b").size() == 5);
  CHECK(checkpoints.write(head("offsets", 9'000), Bytes(20'000)));  // more than was left
  CHECK(positions(checkpoints, "job/a") == std::vector<std::uint64_t>{1'000});
  CHECK(positions(checkpoints, "job/b").back() == 2'000);
  CHECK(checkpoints.bytes() <= 30'000);

  CHECK(checkpoints.write(head("offsets", 9'400), Bytes(100)));
  write_on(checkpoints, "job/a", 30, 31, 1, 100);
  REQUIRE(checkpoints.past_bytes() > 0);
  files.fail(1, 1);  // like a full disk: the first try fails
  CHECK(checkpoints.write(head("offsets", 9'500), Bytes(100)));
  CHECK(checkpoints.past_bytes() == 0);
  options.past_bytes_max = 0;
  Checkpoints none = opened(files, options);
  write_on(none, "job/a", 40, 43, 1);
  CHECK(positions(none, "job/a") == std::vector<std::uint64_t>{4'300});
}
