// Generated text and samples of data sets prove nothing, however bad they sound.
#include "aggregator/detect/crash/free_text.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/detect/crash/made_hints.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::crash {
namespace {

using job::test::MadeJob;

/// A sentence that no other number gives, and that speaks of something bad.
std::string told(std::uint32_t number) {
  constexpr std::array kWords{"the",  "knight", "of",    "river",   "lantern", "saw",   "her",
                              "old",  "mill",   "under", "orchard", "captain", "sang",  "slowly",
                              "gold", "for",    "storm", "letter",  "window",  "seven", "bright"};
  constexpr std::array kBad{"killed", "lost", "crashed", "failed", "panicked"};
  std::uint32_t state = number * 2654435761U + 17;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 16U; };
  std::string text = "And";
  const std::uint32_t words = 5 + number % 11;
  for (std::uint32_t i = 0; i < words; ++i) {
    text += std::string(" ") + kWords[next() % kWords.size()];
    if (i == number % words) text += std::string(" ") + kBad[next() % kBad.size()];
  }
  return text + '.';
}

/// Texts of the failure events; wording alone is known.
std::vector<std::string> found(MadeJob& made) {
  const job::JobView view = made.view();
  const auto hints = test::make_hints(view, [](const job::EventView& event, EventHint& hint) {
    test::note_wording(event, hint);
    hint.by_words = event.level == Level::unknown && !says_at_front(event.text);
  });
  std::vector<std::string> texts;
  for (const FailureEvent& event : find_failure_events(view, job::make_clock(view), hints).events)
    texts.push_back(view.events[event.event].text);
  return texts;
}

/// Every fifth iteration rank 0 prints some samples of what the model generates.
MadeJob sampling_job(std::uint32_t lines) {
  MadeJob job(2);
  std::uint32_t number = 0;
  for (std::int64_t k = 1; k <= 100; ++k) {
    for (int rank = 0; rank < 2; ++rank) job.iterate(rank, k, k * 1000);
    for (std::uint32_t i = 0; k % 5 == 0 && i < 4 && number < lines; ++i)
      job.say(0, {told(++number), Level::unknown}, k * 1000 + 100);
  }
  return job;
}

/// One more block of samples, after the last iteration.
void sample_again(MadeJob& job) {
  for (std::uint32_t i = 0; i < 3; ++i) job.say(0, {told(900 + i), Level::unknown}, 100'100);
}

TEST_CASE("kind: what a model generates goes on behind the last iteration") {
  MadeJob job = sampling_job(75);
  sample_again(job);
  job.say(0, {"step took 12 ms", Level::info}, 100'200);
  CHECK(found(job).empty());
}

TEST_CASE("an exception behind generated text is a failure, and only that") {
  MadeJob job = sampling_job(75);
  sample_again(job);
  job.say(0, {"ValueError: probabilities contain nan", Level::unknown}, 100'200);
  CHECK(found(job) == std::vector<std::string>{"ValueError: probabilities contain nan"});
}

TEST_CASE("where hardly any line sounded bad, the last one counts") {
  MadeJob job = sampling_job(2);
  job.say(0, {"The pool of buffers is lost", Level::unknown}, 100'100);
  CHECK(found(job) == std::vector<std::string>{"The pool of buffers is lost"});
}

TEST_CASE("many more bad lines at the end than before are a failure") {
  MadeJob job = sampling_job(75);
  for (const char* part : {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"})
    for (const char* what : {"segment", "buffer of the table", "channel to the store behind it"})
      job.say(0, {std::string(part) + ' ' + what + " is lost", Level::unknown}, 100'100);
  CHECK_FALSE(found(job).empty());
}

TEST_CASE("kind: several sentences of plain words are free text, wherever they stand") {
  constexpr std::array kSentences{
      "So the second claim cannot be true, because it would contradict what we said of the first.",
      "She said that the ship was lost when the storm came, and that nobody saw it again.",
      "If the answer is wrong, then we have failed to prove that the number is a prime.",
      "They could not agree on it, so the council was killed before it came to a vote, he wrote."};
  for (const char* sentence : kSentences) CHECK_MESSAGE(is_prose(sentence), sentence);
  MadeJob job(2), few(2);
  for (MadeJob* one : {&job, &few}) one->iterate_all(1, 30);
  for (const char* sentence : kSentences) job.say(0, {sentence, Level::unknown}, 30'100);
  CHECK(found(job).empty());
  few.say(0, {kSentences[0], Level::unknown}, 30'100);
  CHECK(found(few).size() == 1);
  for (const char* line :
       {"The pool of buffers is lost", "worker 3 was killed by signal 9 on node-7 at step 120",
        "RPC to 10.0.0.7:29500 failed after 30 s: the peer at rank=3 did not answer a request_id",
        "Unable to open /data/train/shard_00012.bin: no such file or directory (errno 2)"})
    CHECK_MESSAGE(!is_prose(line), line);
}

TEST_CASE("other sources are judged for themselves") {
  MadeJob job = sampling_job(75);
  job.say(1, {"The pool of buffers is lost", Level::unknown}, 100'100);
  CHECK(found(job) == std::vector<std::string>{"The pool of buffers is lost"});
}

}  // namespace
}  // namespace l4::detect::crash
