#include "aggregator/store/group_commit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/aggregator/store/model_files.h"
#include "tests/aggregator/store/numbered.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

GroupCommitOptions prompt() {
  GroupCommitOptions options;
  options.delay_max = Millis{0};
  options.retry = Millis{0};
  return options;
}

TimeMs now() {
  return at_ms(0);
}

Journal journal_of(ModelFiles& files) {
  JournalOptions options;
  options.segment_bytes = 2000;
  options.seed = 3;
  return *Journal::open(files, kJournalFolder, options);
}

/// Counts the events, and waits for them.
struct Heard {
  std::mutex mutex;
  std::condition_variable changed;
  int refusing = 0, accepting = 0;
  std::vector<std::uint64_t> durable;

  GroupCommitEvents events() {
    return {[this](Seq seq) { tell([&] { durable.push_back(seq.value()); }); },
            [this](const Error&) { tell([&] { ++refusing; }); },
            [this] { tell([&] { ++accepting; }); }};
  }
  template <class What>
  void tell(What what) {
    const std::lock_guard guard(mutex);
    what();
    changed.notify_all();
  }
  template <class Until>
  void wait(Until until) {
    std::unique_lock guard(mutex);
    changed.wait(guard, until);
  }
};

}  // namespace

TEST_CASE("group commit: durable records are in the journal, in order") {
  ModelFiles files;
  Heard heard;
  {
    GroupCommit commit(journal_of(files), prompt(), heard.events(), now);
    std::vector<std::jthread> threads;
    std::atomic<int> failed{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i)
          if (!commit.append("job", "agent", bytes_of("x"))) ++failed;
      });
    threads.clear();
    CHECK(failed == 0);
    CHECK(commit.flush());
    CHECK(commit.durable() == Seq{300});
    CHECK(commit.stats().records == 300);
    CHECK(commit.stats().groups <= 300);
  }
  CHECK(std::ranges::is_sorted(heard.durable));
  CHECK(heard.durable.back() == 300);
  files.power_cut();
  CHECK(everything(journal_of(files)).size() == 300);
}

TEST_CASE("group commit: the end makes appended records durable") {
  ModelFiles files;
  {
    GroupCommitOptions slow;
    slow.delay_max = Millis{200};
    GroupCommit commit(journal_of(files), slow, {}, now);
    for (int i = 0; i < 10; ++i) CHECK(commit.append("job", "agent", bytes_of("x")));
  }
  files.power_cut();
  CHECK(everything(journal_of(files)).size() == 10);
}

TEST_CASE("group commit: a refusing disk is reported once, and so is its end") {
  ModelFiles files;
  Heard heard;
  GroupCommit commit(journal_of(files), prompt(), heard.events(), now);
  CHECK(commit.append("job", "agent", bytes_of("one")));
  CHECK(commit.flush());
  files.fail_all();
  const auto taken = commit.append("job", "agent", bytes_of("two"));
  CHECK(taken);
  heard.wait([&] { return heard.refusing == 1; });
  CHECK_FALSE(commit.flush());
  const auto refused = commit.append("job", "agent", bytes_of("three"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == "injected");
  CHECK(commit.stats().refusing);
  CHECK(commit.durable() == Seq{1});
  files.heal();
  heard.wait([&] { return heard.accepting == 1; });
  CHECK(commit.flush());
  CHECK(commit.append("job", "agent", bytes_of("four")));
  CHECK(commit.flush());
  CHECK(heard.refusing == 1);
  CHECK(commit.stats().refused == 1);
  const Replay found = everything(journal_of(files));
  CHECK(found == Replay{{1, "one"}, {2, "two"}, {3, "four"}});
}

TEST_CASE("group commit: free space on the disk is noticed without new records") {
  ModelFiles files;
  Heard heard;
  files.set_room(300);
  GroupCommit commit(journal_of(files), prompt(), heard.events(), now);
  CHECK(commit.append("job", "agent", Bytes(1000)));
  heard.wait([&] { return heard.refusing == 1; });
  files.set_room(1 << 20);
  heard.wait([&] { return heard.accepting == 1; });
  CHECK(commit.durable() == Seq{1});
}

TEST_CASE("group commit: waiting records are bounded, and so is the size of one") {
  ModelFiles files;
  GroupCommitOptions options;
  options.delay_max = Millis{200};
  options.waiting_bytes_max = 10'000;
  GroupCommit commit(journal_of(files), options, {}, now);
  bool full = false;
  for (int i = 0; i < 20; ++i) full = !commit.append("job", "agent", Bytes(1000)) || full;
  CHECK(full);
  CHECK(commit.flush());
  CHECK(commit.append("job", "agent", Bytes(1000)));
  CHECK_FALSE(commit.append(std::string(70'000, 'j'), "agent", {}));
}

TEST_CASE("group commit: records of a killed process are durable before they are acknowledged") {
  ModelFiles files;
  {
    GroupCommit commit(journal_of(files), prompt(), {}, now);
    CHECK(commit.append("job", "agent", bytes_of("one")));
  }
  files.fail_all();
  Journal journal = journal_of(files);
  CHECK_FALSE(journal.is_sure());
  CHECK(everything(journal).size() == 1);
  Heard heard;
  GroupCommit commit(std::move(journal), prompt(), heard.events(), now);
  heard.wait([&] { return heard.refusing == 1; });
  CHECK_FALSE(commit.flush());
  CHECK_FALSE(commit.append("job", "agent", bytes_of("two")));
  CHECK(commit.durable() == Seq{0});
  files.heal();
  heard.wait([&] { return heard.accepting == 1; });
  CHECK(commit.flush());
  CHECK(commit.durable() == Seq{1});
  files.power_cut();
  CHECK(everything(journal_of(files)) == Replay{{1, "one"}});
}
