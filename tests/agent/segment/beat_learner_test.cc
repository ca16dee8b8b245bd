// The line with which each round of a source begins that prints times in turn.
#include "agent/segment/beat_learner.h"

#include <doctest/doctest.h>

#include <random>
#include <string_view>

namespace l4::segment {
namespace {

/// The number of each beat that begins within `lines`, a letter a template.
std::vector<std::uint32_t> beats(BeatLearner& learner, std::string_view lines) {
  std::vector<std::uint32_t> numbers;
  for (const char c : lines)
    if (learner.observe(LocalTemplateId{static_cast<std::uint32_t>(c)}))
      numbers.push_back(learner.number());
  return numbers;
}

TEST_CASE("the first of the lines that come in turn is the beat, numbered from the begin on") {
  BeatLearner learner;
  CHECK(learner.number() == 0);
  CHECK(beats(learner, "abcabcabcabcabc") == std::vector<std::uint32_t>{4, 5});
}

TEST_CASE("a line that comes by the clock is no beat, and hides none") {
  BeatLearner learner;
  CHECK(beats(learner, "xabcxxabcabxcabcxxxabc") == std::vector<std::uint32_t>{4, 5});
  BeatLearner alone;
  CHECK(beats(alone, "xyxxyxxxyyyxyyxxx").empty());
}

TEST_CASE("a line by the clock that came in turn by chance gives way") {
  BeatLearner learner;
  beats(learner, "xaxbcabxcabcxabcabxcabcabcabc");
  CHECK(learner.changes() == 1);
  beats(learner, "abcabcabcabc");
  CHECK(beats(learner, "abcabc").size() == 2);
}

TEST_CASE("lines in no order begin hardly any round") {
  BeatLearner learner;
  std::mt19937 random(11);
  std::size_t begun = 0;
  for (int i = 0; i < 20'000; ++i)
    begun += learner.observe(LocalTemplateId{static_cast<std::uint32_t>(random() % 3)}) ? 1 : 0;
  MESSAGE(begun << " rounds in 20,000 lines");
  CHECK(begun < 200);
}

TEST_CASE("several lines of one template within a round do not end it") {
  BeatLearner learner;
  CHECK(beats(learner, "abbbabbbabbbabbbabbbabbbabbbabbb") == std::vector<std::uint32_t>{7, 8});
}

TEST_CASE("a line alone is a beat once it came often, and ends with its line") {
  BeatLearner learner;
  CHECK(beats(learner, "aaaaaaaaa") == std::vector<std::uint32_t>{8, 9});
  for (int i = 0; i < 80; ++i) beats(learner, "b");
  CHECK(learner.number() == 0);
}

TEST_CASE("start-up lines fill no room for good") {
  BeatLearner learner;
  CHECK(beats(learner, "0123456789abababab") == std::vector<std::uint32_t>{4});
}

}  // namespace
}  // namespace l4::segment
