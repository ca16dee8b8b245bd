// Events that no word marks are set apart by what healthy runs print, by their place and by the
// nodes that print them.
#include "aggregator/detect/crash/set_apart.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/detect/crash/made_hints.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::crash {
namespace {

using job::test::MadeJob;

/// What is found without any word; `pool` lists parts of texts that healthy runs print.
struct Apart {
  FailureEvents failures;
  std::set<std::string> texts;
};

Apart find_apart(MadeJob& made, const std::set<std::string>* pool) {
  const job::JobView view = made.view();
  const auto hints = test::make_hints(view, [&](const job::EventView& event, EventHint& hint) {
    if (pool != nullptr)
      for (const std::string& part : *pool)
        hint.in_pool = hint.in_pool || event.text.find(part) != std::string::npos;
  });
  Apart found;
  found.failures = find_failure_events(view, job::make_clock(view), hints, {pool != nullptr, true});
  for (const FailureEvent& failure : found.failures.events)
    found.texts.insert(view.events[failure.event].text);
  return found;
}

const job::test::Say kOdd{"card went to sleep", Level::info};
const job::test::Say kParted{"peer has gone its own way", Level::info};
const job::test::Say kSaved{"wrote all shards", Level::info};

TEST_CASE("a new line behind the last iteration that healthy runs do not print is found") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  job.say(2, kOdd, 30'500);
  for (const int rank : {0, 1, 3}) job.say(rank, kParted, 31'000);
  job.say(0, kSaved, 31'500);
  const std::set<std::string> pool{"wrote all"};
  const Apart found = find_apart(job, &pool);
  CHECK(found.failures.compared);
  CHECK(found.failures.pooled);
  CHECK(found.texts == std::set<std::string>{kOdd.text, kParted.text});
}

TEST_CASE("nodes part where each ends with a line that the other has not") {
  const std::set<std::string> pool{"nothing of it"};
  for (const bool parts : {false, true}) {
    MadeJob job(4);
    job.iterate_all(1, 30);
    job.say(0, kSaved, 30'400);
    job.say(0, kParted, 30'500);
    job.say(1, parts ? kOdd : kParted, 30'600);
    const Apart found = find_apart(job, &pool);
    CHECK(found.failures.closing == 2);
    CHECK(found.failures.parted == parts);
  }
}

TEST_CASE("what was printed while iterations went on tells of nothing") {
  MadeJob job(4);
  for (std::int64_t k = 1; k <= 30; ++k) {
    for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k, k * 1000);
    if (k % 5 == 0) job.say(1, kOdd, k * 1000 + 200);
  }
  job.say(1, kOdd, 30'500);
  const std::set<std::string> pool{"nothing of it"};
  CHECK(find_apart(job, &pool).texts.empty());
  CHECK(find_apart(job, nullptr).texts.empty());
}

TEST_CASE("without healthy runs a line counts where it is new, rare and last") {
  MadeJob job(8);
  job.iterate_all(1, 60);
  for (int rank = 0; rank < 8; ++rank) job.say(rank, kSaved, 60'300);
  for (int i = 0; i < 6; ++i)
    job.say(5, {"slept for " + std::string(1, 'a' + static_cast<char>(i)), Level::info},
            60'400 + i);
  job.say(5, kOdd, 60'500);
  const Apart found = find_apart(job, nullptr);
  CHECK(found.texts.contains(kOdd.text));
  CHECK_FALSE(found.failures.pooled);
}

TEST_CASE("while a program starts, a new line counts only if nothing usual follows") {
  MadeJob job(4);
  const std::set<std::string> pool{"as usual"};
  const auto usual = [](const std::string& what) {
    return job::test::Say{what + " as usual", Level::info};
  };
  for (int rank = 0; rank < 4; ++rank) {
    for (const char* what : {"settings read", "driver of the card is loaded"})
      job.say(rank, usual(what), 100);
    if (rank != 2) job.say(rank, kParted, 200);
    for (const char* what : {"world set up, all are here,", "tokenizer has its words",
                             "model built from parts", "data: shards found and mixed"})
      job.say(rank, usual(what), 300);
    job.say(rank, kOdd, 400);
    if (rank == 0) job.say(rank, usual("bye"), 500);  // a line or two while it ends
  }
  CHECK(find_apart(job, &pool).texts == std::set<std::string>{kOdd.text});
}

TEST_CASE("the logs of most nodes end with new lines, or they do not") {
  const std::set<std::string> pool{"nothing of it"};
  MadeJob most(4);
  most.iterate_all(1, 30);
  for (const int rank : {0, 2, 3}) most.say(rank, kParted, 30'200);
  most.say(2, kOdd, 30'100);
  CHECK(find_apart(most, &pool).failures.closed);
  CHECK_FALSE(find_apart(most, nullptr).failures.closed);
  MadeJob half(4);
  half.iterate_all(1, 30);
  for (const int rank : {0, 2}) half.say(rank, kParted, 30'200);
  CHECK_FALSE(find_apart(half, &pool).failures.closed);
}

TEST_CASE("where neither words nor healthy runs are known, the last lines are set apart") {
  constexpr Known kNothing{false, false}, kWords{false, true};
  const auto found = [](MadeJob& job, const Known& known) {
    const job::JobView view = job.view();
    return find_failure_events(view, job::make_clock(view),
                               test::make_hints(view, [](const job::EventView&, EventHint&) {}),
                               known);
  };
  // Processes that share a log end one after the other with the same words, from its middle on.
  MadeJob shared(1);
  for (int k = 0; k < 60; ++k) {
    const std::string usual = "set up part " + std::string(1, static_cast<char>('a' + k % 26));
    shared.say(0, {usual, Level::info}, 100 * k);
    if (k > 20 && k % 10 == 0) shared.say(0, kOdd, 100 * k + 50);
  }
  CHECK(found(shared, kWords).events.empty());
  const FailureEvents last = found(shared, kNothing);
  CHECK(last.compared);
  CHECK_FALSE(last.worded);
  CHECK(last.events.size() > 1);
  // Behind the last iteration all that is new counts, however far the log goes on.
  MadeJob trained(1);
  trained.iterate_all(1, 30);
  trained.say(0, kOdd, 31'000);
  for (int k = 0; k < 90; ++k) trained.say(0, kParted, 31'100 + k);
  CHECK(found(trained, kWords).events.empty());
  CHECK(found(trained, kNothing).events.size() == 2);
}

TEST_CASE("how many differences close the logs of one node is counted") {
  MadeJob job(3);
  job.iterate_all(1, 30);
  job.say(1, kOdd, 30'100);
  job.say(1, kParted, 30'200);
  job.say(2, kOdd, 30'100);
  for (int i = 0; i < 6; ++i) job.say(2, kSaved, 30'200 + i);  // its usual course goes on
  const std::set<std::string> pool{"wrote all"};
  const Apart apart = find_apart(job, &pool);
  CHECK(apart.failures.closing == 2);
  CHECK_FALSE(apart.failures.closed);
}

TEST_CASE("what most streams first print behind the end, and none surely before, is new in all") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  for (const int rank : {0, 1, 2}) job.say(rank, kOdd, 31'000);
  MadeJob early(4);
  early.say(3, {"started", Level::info}, 100);
  early.say(3, kOdd);  // at an unknown time between two others
  early.say(3, {"started", Level::info}, 30'000);
  for (std::int64_t k = 1; k <= 30; ++k)
    for (const int rank : {0, 1, 2}) early.iterate(rank, k, k * 1000);
  for (const int rank : {0, 1, 2}) early.say(rank, kOdd, 31'000);
  const auto found = [](MadeJob& made, const Known& known) {
    const job::JobView view = made.view();
    const auto hints = test::make_hints(view, [](const job::EventView&, EventHint&) {});
    std::size_t streams = 0;
    for (const FailureEvent& event :
         find_failure_events(view, job::make_clock(view), hints, known).events)
      streams += event.occurrences.size();
    return streams;
  };
  CHECK(found(job, {true, true}) == 3);
  CHECK(found(early, {true, true}) == 0);
  CHECK(found(early, {true, false}) == 4);
}

TEST_CASE("where words tell of a failure, only what is new shortly before it joins it") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  job.say(2, kOdd, 31'000);
  job.say(2, {"RuntimeError: it broke", Level::error}, 32'000);
  const job::JobView view = job.view();
  const auto hints = test::make_hints(view, test::note_wording);
  const auto clock = job::make_clock(view);
  CHECK(find_failure_events(view, clock, hints, {false, true}).events.size() == 1);
  const FailureEvents found = find_failure_events(view, clock, hints, {true, true});
  CHECK(found.events.size() == 2);
  CHECK_FALSE(found.compared);
}

}  // namespace
}  // namespace l4::detect::crash
