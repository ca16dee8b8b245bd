#include "aggregator/store/store.h"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <mutex>
#include <random>

#include "tests/aggregator/store/counting_aggregator.h"
#include "tests/aggregator/store/model_files.h"
#include "tests/temp_folder.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

StoreOptions options_in(const Path& folder, std::uint64_t seed = 1) {
  StoreOptions options;
  options.folder = folder;
  options.holder = "the test";
  options.journal.segment_bytes = 2000;
  options.journal.ring_bytes = 20'000;
  options.journal.seed = seed;
  options.commit.delay_max = Millis{0};
  options.commit.retry = Millis{0};
  return options;
}

std::unique_ptr<Store> opened(const StoreOptions& options, Files& files, StoreEvents events = {}) {
  auto store = Store::open(options, std::move(events), [] { return at_ms(0); }, files);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().text()));
  return std::move(*store);
}

}  // namespace

TEST_CASE("store: the error of a second aggregator names the holder of the folder") {
  const l4::test::TempFolder folder;
  const auto first = opened(options_in(folder.path()), system_files());
  const auto second = Store::open(options_in(folder.path()), {}, [] { return at_ms(0); });
  REQUIRE_FALSE(second);
  CHECK(second.error().reason.find("in use by pid ") != std::string::npos);
  CHECK(second.error().reason.find("the test") != std::string::npos);
}

TEST_CASE(
    "store: applied batches are recovered from the journal alone, or checkpoint and journal") {
  const l4::test::TempFolder folder;
  for (int life = 0; life < 4; ++life) {
    CountingAggregator state;
    const auto store = opened(options_in(folder.path()), system_files());
    store->recover(state);
    CHECK(state.wrong() == 0);
    for (std::uint64_t file = 0; file < kCountedFiles; ++file) {
      CHECK(state.offset(file) == static_cast<std::uint64_t>(life) * 500);
      CHECK(state.counted(file) == static_cast<std::uint64_t>(life) * 500);
    }
    for (int i = 0; i < 50; ++i)
      for (std::uint64_t file = 0; file < kCountedFiles; ++file)
        CHECK(state.take(*store, state.next(file, 10)));
    if (life > 0) CHECK(state.checkpoint(*store, "first"));
    if (life > 1) CHECK(state.checkpoint_offsets(*store));
    store->drain();
    CHECK(store->stats().checkpoint_failures == 0);
  }
}

TEST_CASE("store: a closed job is not recovered, and a new one of its name begins empty") {
  const l4::test::TempFolder folder;
  {
    CountingAggregator state;
    const auto store = opened(options_in(folder.path()), system_files());
    store->recover(state);
    for (int i = 0; i < 20; ++i) CHECK(state.take(*store, state.next(0, 10)));
    CHECK(state.checkpoint(*store, "first"));
    store->drain();
    state.close(*store, "first");
    store->drain();
  }
  {
    CountingAggregator state;
    const auto store = opened(options_in(folder.path()), system_files());
    store->recover(state);
    CHECK(state.offset(0) == 200);
    CHECK(state.counted(0) == 0);
    CHECK(state.take(*store, state.next(0, 5)));
  }
  CountingAggregator state;
  const auto store = opened(options_in(folder.path()), system_files());
  store->recover(state);
  CHECK(state.offset(0) == 205);
  CHECK(state.counted(0) == 205);
  CHECK(state.wrong() == 0);
}

TEST_CASE("store: the journal shrinks to its ring once checkpoints hold what came before") {
  const l4::test::TempFolder folder;
  CountingAggregator state;
  const auto store = opened(options_in(folder.path()), system_files());
  store->recover(state);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 400; ++i) {
      CHECK(state.take(*store, state.next(i % kCountedFiles, 10)));
      if (i % 5 == 0) CHECK(store->flush());  // segments end between groups
    }
    CHECK(state.checkpoint(*store, "first"));
    CHECK(state.checkpoint(*store, "second"));
    CHECK(state.checkpoint_offsets(*store));
    store->drain();
    CHECK(store->stats().floor == state.last());
  }
  CHECK(state.take(*store, state.next(0, 10)));
  CHECK(store->flush());
  CHECK(store->stats().commit.journal_bytes < 30'000);
  std::uint64_t seen = 0;
  const Replayed past = store->read_past(store->segments(), {"first", {}, at_ms(0)},
                                         [&](const Record&) { return ++seen > 0; });
  CHECK(past.trouble.empty());
  CHECK(seen > 10);
}

TEST_CASE("store: a damaged checkpoint is reported; the job is recovered from the rest") {
  const l4::test::TempFolder folder;
  StoreOptions options = options_in(folder.path());
  options.journal.ring_bytes = 1 << 20;
  {
    CountingAggregator state;
    const auto store = opened(options, system_files());
    store->recover(state);
    for (int i = 0; i < 40; ++i) CHECK(state.take(*store, state.next(i % kCountedFiles, 10)));
    CHECK(state.checkpoint(*store, "first"));
    store->drain();
  }
  const auto checkpoints = folder.path() / "checkpoints";
  for (const auto& file : std::filesystem::directory_iterator(checkpoints))
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file) - 1);
  std::vector<std::string> said;
  CountingAggregator state;
  StoreEvents events;
  events.say = [&](const std::string& text) { said.push_back(text); };
  const auto store = opened(options, system_files(), events);
  store->recover(state);
  CHECK(state.wrong() == 0);
  for (std::uint64_t file = 0; file < kCountedFiles; ++file) CHECK(state.counted(file) == 100);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("the checkpoint is cut") != std::string::npos);
}

TEST_CASE("store: a full disk is reported once; batches are refused until there is space") {
  const l4::test::TempFolder folder;
  ModelFiles files;
  std::mutex mutex;
  std::vector<std::string> said;
  StoreEvents events;
  events.say = [&](const std::string& text) {
    const std::lock_guard guard(mutex);
    said.push_back(text);
  };
  CountingAggregator state;
  const auto store = opened(options_in(folder.path()), files, events);
  store->recover(state);
  CHECK(state.take(*store, state.next(0, 10)));
  CHECK(store->flush());
  files.set_room(0);
  while (state.take(*store, state.next(0, 10))) {
  }
  CHECK_FALSE(store->flush());
  CHECK(state.checkpoint_offsets(*store));
  store->drain();
  CHECK(store->stats().checkpoint_failures == 1);
  files.set_room(1 << 30);
  while (!state.take(*store, state.next(0, 10))) {
  }
  CHECK(store->flush());
  CHECK(state.checkpoint_offsets(*store));
  store->drain();
  const std::lock_guard guard(mutex);
  CHECK(said.size() == 4);  // refusing, checkpoint, accepting, checkpoint
}

TEST_CASE("store: random lives with failures, kills and power cuts count every byte once") {
  for (std::uint64_t seed = 1; seed <= lives(60); ++seed) {
    INFO("seed ", seed);
    const l4::test::TempFolder folder;
    ModelFiles files(seed);
    std::mt19937_64 random(seed);
    std::array<std::uint64_t, kCountedFiles> acked{};
    for (int life = 0; life < 6; ++life) {
      CountingAggregator state;
      auto store = opened(options_in(folder.path(), seed * 10 + life), files);
      store->recover(state);
      REQUIRE(state.wrong() == 0);
      for (std::uint64_t file = 0; file < kCountedFiles; ++file) {
        REQUIRE(state.counted(file) == state.offset(file));
        REQUIRE(state.offset(file) >= acked[file]);
      }
      for (int steps = static_cast<int>(random() % 60); steps > 0; --steps) {
        if (random() % 8 == 0) files.fail(random() % 6, 1 + random() % 4);
        const std::uint64_t kind = random() % 12;
        if (kind == 0) static_cast<void>(state.checkpoint(*store, "first"));
        if (kind == 1) static_cast<void>(state.checkpoint(*store, "second"));
        if (kind == 2) static_cast<void>(state.checkpoint_offsets(*store));
        if (kind == 3) store->drain();
        static_cast<void>(
            state.take(*store, state.next(random() % kCountedFiles, 1 + random() % 9)));
        if (random() % 4 == 0 && store->flush())
          for (std::uint64_t file = 0; file < kCountedFiles; ++file)
            acked[file] = state.offset(file);
      }
      if (random() % 2 == 0) {  // a kill: from here on nothing reaches the disk
        files.fail_all();
        store.reset();
        files.heal();
      } else {
        files.heal();
        store.reset();
      }
      if (random() % 2 == 0) files.power_cut();
    }
  }
}
