// New runs in a file that holds several, and lines that only resemble the begin of a run.
#include "agent/segment/run_watch.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "agent/segment/epoch_counter.h"
#include "agent/segment/progress_grammar.h"

namespace l4::segment {
namespace {

/// Feeds lines to a watch and remembers in which of them a run began.
class WatchFeed {
 public:
  void mark(std::int64_t iteration, std::size_t speaker = 0) {
    IterationMark mark{iteration};
    mark.rule = &marker_;
    add({}, mark, speaker);
  }
  void banner(std::size_t speaker = 0) {
    TemplateTraits traits;
    traits.role.banner = &banner_;
    add(traits, {}, speaker);
  }
  /// Lines of the templates `from` to `to`, one each.
  void lines(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t id = from; id <= to; ++id) add({}, {}, 0, Level::info, id);
  }
  /// A line with the text.
  void say(std::string_view text) {
    TemplateTraits traits;
    traits.ended = ends_run(text);
    add(traits, {}, 0, Level::info, 999);
  }
  void traceback() { add({}, {}, 0, Level::error, 998, true); }
  void words(int count, Level level = Level::info) {
    for (int i = 0; i < count; ++i) add({}, {}, 0, level);
  }

  bool restless() const { return watch_.restless(); }

  std::vector<int> begun;

 private:
  void add(const TemplateTraits& traits, std::optional<IterationMark> mark, std::size_t speaker,
           Level level = Level::info, std::uint32_t id = 0, bool folded = false) {
    ++line_;
    RunWatch::Line line;
    line.speaker = speaker;
    line.id = LocalTemplateId{id};
    line.level = level;
    line.folded = folded;
    if (watch_.begins(line, traits, mark)) begun.push_back(line_);
  }
  RunWatch watch_;
  IterationMarker marker_;
  LiteralRule banner_;
  int line_ = 0;
};

TEST_CASE("a number that falls back to the run's first is a new run") {
  WatchFeed feed;
  for (const int i : {1, 10, 20, 30, 1, 10, 20}) feed.mark(i);
  CHECK(feed.begun == std::vector<int>{5});
}

TEST_CASE("a number far behind the last is a new run, from a checkpoint") {
  WatchFeed feed;
  for (int i = 1; i <= 130; ++i) feed.mark(i);
  for (int i = 101; i <= 120; ++i) feed.mark(i);
  CHECK(feed.begun == std::vector<int>{131});
}

TEST_CASE("numbers that go back a little are the same run") {
  WatchFeed feed;
  for (int i = 1; i <= 60; ++i) {
    feed.mark(i);
    if (i > 20) feed.mark(i - 4);  // printed late
  }
  feed.mark(1, 7);  // another speaker has its own numbers
  CHECK(feed.begun.empty());
}

TEST_CASE("a banner said again after the run came to something is a new run") {
  WatchFeed feed;
  feed.banner();
  feed.words(40);
  feed.words(1, Level::error);
  feed.banner();
  feed.words(40);
  feed.mark(1);
  feed.mark(2);
  feed.banner();
  CHECK(feed.begun == std::vector<int>{43, 86});
}

TEST_CASE("a banner of several speakers is one") {
  WatchFeed feed;
  for (int rank = 0; rank < 40; ++rank) {
    feed.banner();  // speakers without distinct prefixes
    feed.words(5, Level::error);
  }
  for (std::size_t rank = 1; rank < 40; ++rank) feed.banner(rank);
  CHECK(feed.begun.empty());
}

TEST_CASE("a banner said again in a start that has come to nothing yet is the same run") {
  WatchFeed feed;
  feed.banner();
  feed.words(500);
  feed.banner();
  CHECK(feed.begun.empty());
}

TEST_CASE("kind: what a batch system says of a job ends a run; the next begins as the first did") {
  for (const std::string_view text :
       {"slurmstepd: error: *** JOB 71 ON gpu-9 CANCELLED AT 2026-03-01T04:12:33 ***",
        "slurmstepd: error: *** STEP 8.0 ON n1 CANCELLED AT 2026-03-01T04:12:33 DUE TO PREEMPTION",
        "slurmstepd-gpu7: error: *** JOB 9 ON gpu7 CANCELLED AT 2026-03-01T04:12:33 ***",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "=>> PBS: job killed: walltime 3620 exceeded limit 3600", "Exited with exit code 143.",
        "User defined signal 2"}) {
    CAPTURE(text);
    WatchFeed feed;
    feed.lines(1, 8);
    for (const int i : {1, 2, 3, 4, 5}) feed.mark(i);
    feed.say(text);
    feed.lines(1, 8);
    CHECK(feed.begun == std::vector<int>{16});
  }
  for (const std::string_view text : {"a step of 8.0 was CANCELLED AT its end", "PBS: job killed",
                                      "TERM_GRACE: 30", "Exited with exit code"}) {
    CAPTURE(text);
    CHECK_FALSE(ends_run(text));
  }
}

TEST_CASE("kind: a run that ended before it had a number opens the file like one with numbers") {
  for (const int numbers : {0, 3}) {
    CAPTURE(numbers);
    WatchFeed feed;
    feed.lines(1, 8);
    for (int i = 1; i <= numbers; ++i) feed.mark(i);
    feed.traceback();
    feed.lines(100, 240);  // where no number stands, only a long start is one of its own
    feed.lines(1, 8);
    for (const int i : {1, 2, 3, 4, 5}) feed.mark(i);
    feed.traceback();
    feed.lines(1, 8);
    CHECK(feed.begun.size() == 2);
  }
}

TEST_CASE("kind: a start of more lines than are noted opens the file as a short one does") {
  for (const std::uint32_t lines : {8u, 40u, 300u}) {
    CAPTURE(lines);
    WatchFeed feed;
    for (int run = 0; run < 3; ++run) {
      feed.lines(1, lines);
      for (const int i : {7, 8, 9}) feed.mark(i);
      feed.say("Terminated");
    }
    CHECK(feed.begun.size() == 2);
    // A file that begins within a run: what stands in front of a late number opens nothing.
    WatchFeed cut;
    cut.lines(1, lines);
    for (int i = 5000; i < 5006; ++i) cut.mark(i);
    cut.traceback();
    cut.lines(1, lines);
    for (int i = 5006; i < 5009; ++i) cut.mark(i);
    CHECK(cut.begun.empty());
  }
}

TEST_CASE("numbers that jump to and fro count nothing, and begin no runs") {
  WatchFeed feed;
  std::mt19937 random(3);
  for (int i = 0; i < 64; ++i) feed.mark(random() % 250'000);
  CHECK(feed.restless());
  const std::size_t begun = feed.begun.size();
  for (int i = 0; i < 3000; ++i) feed.mark(random() % 250'000);
  CHECK(feed.restless());
  CHECK(feed.begun.size() == begun);
  for (int i = 1; i < 200; ++i) feed.mark(i);  // then a program that counts iterations begins
  CHECK_FALSE(feed.restless());
  feed.mark(1);
  CHECK(feed.begun.size() == begun + 1);
}

TEST_CASE("a job that crashes again and again at once is not restless") {
  WatchFeed feed;
  for (int run = 0; run < 40; ++run) {
    feed.banner();
    feed.words(40);
    feed.mark(1000);
    feed.mark(1100);
    feed.words(1, Level::error);
  }
  CHECK_FALSE(feed.restless());
  CHECK(feed.begun.size() == 39);
}

TEST_CASE("runs that restart soon, short epochs and ranks in one stream are not restless") {
  WatchFeed restarts;
  for (int run = 0; run < 40; ++run)
    for (int i = 1; i <= 6; ++i) restarts.mark(1000 + 10 * i);
  CHECK_FALSE(restarts.restless());
  CHECK(restarts.begun.size() == 39);
  WatchFeed epochs;
  for (int epoch = 0; epoch < 40; ++epoch)
    for (int i = 1; i <= 20; ++i) epochs.mark(i);
  CHECK_FALSE(epochs.restless());
  WatchFeed ranks;
  std::mt19937 random(4);
  for (int i = 1; i < 400; ++i) ranks.mark(i + static_cast<int>(random() % 8));
  CHECK_FALSE(ranks.restless());
}

TEST_CASE("the epoch that a line names") {
  CHECK(epoch_in("{ Epoch:[  2/  3], step:[    1/   19], loss") == 2);
  CHECK(epoch_in("epoch: 4 step: 10, loss is 2.3") == 4);
  CHECK(epoch_in("Training Epoch: 1/3, step 0/79") == 1);
  CHECK(epoch_in("[step=10/1000,epoch=1,eta=0:00:10]") == 1);
  CHECK(epoch_in("'epoch': 3}") == 3);
  CHECK_FALSE(epoch_in("{'loss': 1.9, 'epoch': 0.4}").has_value());
  CHECK_FALSE(epoch_in("num_train_epochs = 3").has_value());
  CHECK_FALSE(epoch_in("lr_warmup_epoch: 3").has_value());
  CHECK_FALSE(epoch_in("epoch time: 8000").has_value());
  CHECK_FALSE(epoch_in("epoch").has_value());
}

TEST_CASE("iterations go on over epochs") {
  EpochCounter counter;
  std::vector<std::int64_t> seen;
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch)
    for (std::int64_t step = 1; step <= 3; ++step) {
      counter.enter(epoch, true);
      seen.push_back(counter.count(step, 3));
    }
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a number that falls within an epoch, or when epochs begin anew, is left alone") {
  EpochCounter counter;
  counter.enter(1, false);
  CHECK(counter.count(50, std::nullopt) == 50);
  CHECK(counter.count(30, std::nullopt) == 30);
  counter.enter(7, false);  // on a line of its own, which may have another meaning
  CHECK(counter.count(1, std::nullopt) == 1);
  counter.enter(9, true);
  CHECK(counter.count(2, std::nullopt) == 2);
  counter.enter(12, true);  // epochs are missing in the log
  CHECK(counter.count(1, std::nullopt) == 3);
}

TEST_CASE("kind: the last number of the last epoch is the end, in any form of the epoch") {
  for (const char* form :
       {"Epoch {}/3", "epoch: {} of 3", "Train Epoch [{}/3]", "Epoch(train) [{}/3]"})
    for (const std::int64_t epoch : {1, 2, 3}) {
      const std::string line = fmt::format(fmt::runtime(form), epoch);
      CAPTURE(line);
      const auto named = find_epoch(line);
      REQUIRE(named);
      CHECK(named->total == 3);
      EpochCounter counter;
      counter.enter(named->number, false, named->total);
      CHECK(counter.reach(499, 500) == wire::Reach::before);
      CHECK(counter.reach(500, 500) == (epoch == 3 ? wire::Reach::total : wire::Reach::pass));
    }
  CHECK(find_epoch("epoch 2, loss 3/4")->total == 0);
}

}  // namespace
}  // namespace l4::segment
