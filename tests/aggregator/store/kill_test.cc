// The aggregator's store under SIGKILL: a child counts, its parent kills it, and the next child
// must have at least the counts that its predecessor had reported. L4_STORE_KILLS=N kills (default
// 40).
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <random>

#include "tests/aggregator/store/counting_aggregator.h"
#include "tests/temp_folder.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

/// Reports of a child: first its recovered counts, later the durable ones.
struct Message {
  std::array<std::uint64_t, kCountedFiles> offsets{};
  std::uint64_t wrong = 0;
  bool begun = false;
};

void tell(int pipe, const CountingAggregator& state, bool begun) {
  Message message;
  for (std::uint64_t file = 0; file < kCountedFiles; ++file) {
    message.offsets[file] = state.offset(file);
    if (state.counted(file) != state.offset(file)) message.wrong = 1;
  }
  message.wrong += static_cast<std::uint64_t>(state.wrong());
  message.begun = begun;
  if (::write(pipe, &message, sizeof message) != sizeof message) ::_exit(3);
}

[[noreturn]] void live(const Path& folder, int pipe, std::uint64_t seed) {
  StoreOptions options;
  options.folder = folder;
  options.journal.segment_bytes = 20'000;
  options.journal.ring_bytes = 100'000;
  options.commit.delay_max = Millis{0};
  auto store = Store::open(options, {}, [] { return at_ms(0); });
  if (!store) ::_exit(2);
  CountingAggregator state;
  (*store)->recover(state);
  if (!(*store)->flush()) ::_exit(2);
  tell(pipe, state, true);
  std::mt19937_64 random(seed);
  for (;;) {
    static_cast<void>(state.take(**store, state.next(random() % kCountedFiles, 1 + random() % 99)));
    const std::uint64_t kind = random() % 40;
    if (kind < 2) static_cast<void>(state.checkpoint(**store, kind == 0 ? "first" : "second"));
    if (kind == 2) static_cast<void>(state.checkpoint_offsets(**store));
    if (random() % 8 == 0 && (*store)->flush()) tell(pipe, state, false);
  }
}

}  // namespace

TEST_CASE("store: after a kill, everything acknowledged is recovered") {
  const char* wanted = std::getenv("L4_STORE_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 40;
  const l4::test::TempFolder folder;
  std::mt19937_64 random(std::random_device{}());
  Message acked;
  for (int kill = 0; kill < kills; ++kill) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      live(folder.path(), ends[1], random());
    }
    ::close(ends[1]);
    // Kills the child at a random point: after this many messages and some more work.
    int left = static_cast<int>(random() % 12);
    Message message;
    bool first = true;
    while (::read(ends[0], &message, sizeof message) == sizeof message) {
      REQUIRE(message.wrong == 0);
      CHECK(message.begun == first);
      first = false;
      for (std::uint64_t file = 0; file < kCountedFiles; ++file)
        REQUIRE(message.offsets[file] >= acked.offsets[file]);
      acked = message;
      if (left-- > 0) continue;
      for (volatile std::uint64_t spin = random() % 400'000; spin > 0;) spin = spin - 1;
      ::kill(child, SIGKILL);
      left = 1 << 30;
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK_FALSE(first);
    ::close(ends[0]);
  }
}
