// Each word of the field has one spelling, and reading it gives the word back.
#include "common/base/vocabulary.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace l4 {
namespace {

/// Names of the values 0..last, of which no two are alike.
template <class Enum>
std::set<std::string> spellings(Enum last) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace(name(static_cast<Enum>(i)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK_FALSE(names.contains(""));
  return names;
}

TEST_CASE("reading a name gives the value back") {
  for (int i = 0; i <= static_cast<int>(Level::fatal); ++i)
    CHECK(level_from_name(name(static_cast<Level>(i))) == static_cast<Level>(i));
  for (int i = 0; i <= static_cast<int>(Stage::exit); ++i)
    CHECK(stage_from_name(name(static_cast<Stage>(i))) == static_cast<Stage>(i));
  for (int i = 0; i <= static_cast<int>(Scope::unknown); ++i)
    CHECK(scope_from_name(name(static_cast<Scope>(i))) == static_cast<Scope>(i));
}

TEST_CASE("the words of a report are those of its schema") {
  CHECK(spellings(State::launch_failed) == std::set<std::string>{"healthy", "finished", "crashed",
                                                                 "hung", "slow", "node_lost",
                                                                 "launch_failed", "unknown"});
  CHECK(spellings(Scope::unknown) ==
        std::set<std::string>{"none", "rank", "node", "several", "all", "unknown"});
  CHECK(spellings(Role::consequence) == std::set<std::string>{"root", "direct", "consequence"});
  CHECK(spellings(RankSource::derived) == std::set<std::string>{"none", "line", "env", "derived"});
  CHECK(spellings(Level::fatal).size() == 7);
  CHECK(spellings(Stage::exit).size() == 11);
}

TEST_CASE("unknown words give nothing") {
  for (const char* word : {"", "Error", "ERROR", "warn", "errors", "train", " training", "none "}) {
    CAPTURE(word);
    CHECK_FALSE(level_from_name(word).has_value());
    CHECK_FALSE(stage_from_name(word).has_value());
    CHECK_FALSE(scope_from_name(word).has_value());
  }
}

TEST_CASE("levels grow with their weight") {
  CHECK(Level::unknown < Level::trace);
  CHECK(Level::info < Level::warning);
  CHECK(Level::warning < Level::error);
  CHECK(Level::error < Level::fatal);
}

TEST_CASE("startup ends where training begins") {
  for (const Stage stage : {Stage::submit, Stage::preflight, Stage::init, Stage::data_loading,
                            Stage::model_build, Stage::checkpoint_load})
    CHECK(is_startup(stage));
  for (const Stage stage :
       {Stage::unknown, Stage::training, Stage::evaluation, Stage::checkpoint_save, Stage::exit})
    CHECK_FALSE(is_startup(stage));
}

TEST_CASE("a job that is healthy, has finished or is unknown has not failed") {
  for (const State state : {State::unknown, State::healthy, State::finished})
    CHECK_FALSE(is_failure(state));
  for (const State state :
       {State::crashed, State::hung, State::slow, State::node_lost, State::launch_failed})
    CHECK(is_failure(state));
}

}  // namespace
}  // namespace l4
