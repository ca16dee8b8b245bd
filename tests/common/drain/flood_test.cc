#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "common/drain/flood.h"
#include "common/drain/template_miner.h"

namespace l4::drain {
namespace {

/// A log of a few kinds of lines, in which random words may replace some words.
class Speaker {
 public:
  static constexpr int kKinds = 40;

  std::string word() {
    std::string made;
    for (int i = 0; i < 7; ++i) made += static_cast<char>('g' + random_() % 20);
    return made;
  }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  /// A line of a kind, which both halves name; `odd` of its words (0 or 1) are replaced.
  std::string line(int kind, int odd) {
    std::vector<std::string> words{"NCCL", "INFO",     "comm", number(), "rank",    number(),
                                   "uses", name(kind), "ring", "of",     name(kind)};
    if (odd > 0) {
      std::size_t at = random_() % words.size();
      while (words[at][0] >= '0' && words[at][0] <= '9') at = random_() % words.size();
      words[at] = word();
    }
    std::string joined;
    for (const std::string& each : words) joined += (joined.empty() ? "" : " ") + each;
    return joined;
  }
  int kind() { return static_cast<int>(random_() % kKinds); }

  static std::string name(int kind) {
    return std::string("algorithm") + static_cast<char>('a' + kind / 26) +
           static_cast<char>('a' + kind % 26);
  }

 private:
  std::string number() { return std::to_string(100 + random_() % 900); }

  std::mt19937 random_{7};
};

constexpr int kLongEnough = 12 * 4096;

/// Lines, of which one in `one_in` has a replaced word.
void say(TemplateMiner& miner, Speaker& speaker, int lines, unsigned one_in) {
  for (int i = 0; i < lines; ++i)
    miner.learn(speaker.line(speaker.kind(), speaker.chance(one_in) ? 1 : 0));
}

}  // namespace

TEST_CASE("in a flood a line with one odd word joins the kind it was made from") {
  Speaker speaker;
  TemplateMiner miner;
  say(miner, speaker, kLongEnough, 12);
  const std::uint64_t before = miner.stats().by_half;
  CHECK(before > 0);
  int joined = 0;
  constexpr int kTries = 500;
  for (int i = 0; i < kTries; ++i) {
    const int kind = speaker.kind();
    const TemplateMatch whole = miner.learn(speaker.line(kind, 0));
    joined += miner.learn(speaker.line(kind, 1)).id == whole.id ? 1 : 0;
  }
  CHECK(joined > kTries * 8 / 10);
}

TEST_CASE("where one line in a hundred is new, every one of them is learned") {
  Speaker speaker;
  TemplateMiner miner;
  say(miner, speaker, kLongEnough, 100);
  CHECK(miner.stats().by_half == 0);
}

TEST_CASE("a flood ends when the lines repeat for long, and a short calm does not end it") {
  Speaker speaker;
  TemplateMiner miner;
  say(miner, speaker, kLongEnough, 12);
  say(miner, speaker, 3 * 4096, 1'000'000);
  std::uint64_t before = miner.stats().by_half;
  say(miner, speaker, 4096, 12);
  CHECK(miner.stats().by_half > before);
  say(miner, speaker, kLongEnough, 1'000'000);
  before = miner.stats().by_half;
  say(miner, speaker, 4096, 12);
  CHECK(miner.stats().by_half == before);
}

TEST_CASE("a warning joins a half of a warning alone") {
  const auto masked = [](std::string_view text) { return masked_line(text, default_codes()); };
  Flood flood(1000);
  flood.remember(masked("rank 5 left the ring of peers"), 1, false);
  CHECK(flood.find(masked("rank 9 lost the ring of peers"), false) == 1);
  CHECK(!flood.find(masked("rank 9 lost the ring of peers"), true));
  flood.remember(masked("rank 5 broke a link to peers"), 2, true);
  CHECK(flood.find(masked("rank 9 lost a link to peers"), true) == 2);
  CHECK(flood.find(masked("rank 9 lost a link to peers"), false) == 2);
  CHECK(!flood.find(masked("rank 5"), false));
}

TEST_CASE("a line joins with odd words in two of its quarters, and not in three") {
  const auto masked = [](std::string_view text) { return masked_line(text, default_codes()); };
  Flood flood(1000);
  flood.remember(masked("a peer of the ring left it for good"), 1, false);
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(flood.find(masked("x peer of the y left it for z"), false) == 1);
    CHECK(flood.find(masked("x y of the z left it for good"), false) == 1);
    CHECK(flood.find(masked("a peer x y ring left z it"), false) == std::nullopt);
    CHECK(flood.find(masked("x y z the ring left it for good"), false) == std::nullopt);
    CHECK(flood.size() == 6);
    flood.freeze();
  }
}

TEST_CASE("a heavy flood is met sooner, and halves that had no room are remembered again") {
  Speaker speaker;
  TemplateMiner miner({.templates_max = 64});
  say(miner, speaker, 7 * 4096, 3);
  const std::uint64_t before = miner.stats().by_half;
  CHECK(before > 4096 / 4);
  say(miner, speaker, 8 * 4096, 3);
  CHECK(miner.stats().by_half - before > 8 * 4096 / 6);
}

TEST_CASE("a line of a new kind is learned in a flood, too") {
  Speaker speaker;
  TemplateMiner miner;
  say(miner, speaker, kLongEnough, 12);
  const TemplateMatch first = miner.learn("checkpoint shard could not be written to the store");
  CHECK(first.created);
  CHECK(miner.learn("checkpoint shard could not be written to the store").id == first.id);
}

}  // namespace l4::drain
