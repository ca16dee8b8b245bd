#include "common/base/vocabulary.h"

#include <array>
#include <cstddef>

namespace l4 {
namespace {

constexpr std::array<std::string_view, 7> kLevels{"unknown", "trace", "debug", "info",
                                                  "warning", "error", "fatal"};
constexpr std::array<std::string_view, 11> kStages{
    "unknown",     "submit",          "preflight", "init",       "data_loading",
    "model_build", "checkpoint_load", "training",  "evaluation", "checkpoint_save",
    "exit"};
constexpr std::array<std::string_view, 8> kStates{
    "unknown", "healthy", "finished", "crashed", "hung", "slow", "node_lost", "launch_failed"};
constexpr std::array<std::string_view, 6> kScopes{"none",    "rank", "node",
                                                  "several", "all",  "unknown"};
constexpr std::array<std::string_view, 3> kRoles{"root", "direct", "consequence"};
constexpr std::array<std::string_view, 4> kRankSources{"none", "line", "env", "derived"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}
std::string_view name(Stage stage) {
  return kStages[static_cast<std::size_t>(stage)];
}
std::string_view name(State state) {
  return kStates[static_cast<std::size_t>(state)];
}
std::string_view name(Scope scope) {
  return kScopes[static_cast<std::size_t>(scope)];
}
std::string_view name(Role role) {
  return kRoles[static_cast<std::size_t>(role)];
}
std::string_view name(RankSource source) {
  return kRankSources[static_cast<std::size_t>(source)];
}

std::optional<Level> level_from_name(std::string_view text) {
  return find<Level>(kLevels, text);
}
std::optional<Stage> stage_from_name(std::string_view text) {
  return find<Stage>(kStages, text);
}
std::optional<Scope> scope_from_name(std::string_view text) {
  return find<Scope>(kScopes, text);
}

bool is_startup(Stage stage) {
  return stage >= Stage::submit && stage <= Stage::checkpoint_load;
}

bool is_failure(State state) {
  return state != State::healthy && state != State::finished && state != State::unknown;
}

}  // namespace l4
