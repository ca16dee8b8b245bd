// The closed word lists of the field: level, stage, state, scope, role, why a rank is known.
//
// Each enum has one spelling (docs/GLOSSARY.md), used in rule packs, on the wire and in reports.
// `from_name` is the inverse of `name`; unknown words give an empty optional.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace l4 {

enum class Level : std::uint8_t { unknown, trace, debug, info, warning, error, fatal };

enum class Stage : std::uint8_t {
  unknown,
  submit,
  preflight,
  init,
  data_loading,
  model_build,
  checkpoint_load,
  training,
  evaluation,
  checkpoint_save,
  exit,
};

/// The state of a job; a failed job's state names how the failure began.
enum class State : std::uint8_t {
  unknown,
  healthy,
  finished,
  crashed,
  hung,
  slow,
  node_lost,
  launch_failed,
};

enum class Scope : std::uint8_t { none, rank, node, several, all, unknown };

/// Part an event plays in a failure.
enum class Role : std::uint8_t { root, direct, consequence };

/// The origin of a rank number.
enum class RankSource : std::uint8_t { none, line, env, derived };

std::string_view name(Level level);
std::string_view name(Stage stage);
std::string_view name(State state);
std::string_view name(Scope scope);
std::string_view name(Role role);
std::string_view name(RankSource source);

std::optional<Level> level_from_name(std::string_view text);
std::optional<Stage> stage_from_name(std::string_view text);
std::optional<Scope> scope_from_name(std::string_view text);

/// True for every stage before the first training iteration.
bool is_startup(Stage stage);
/// False for a job that is healthy, has finished, or about which nothing is known.
bool is_failure(State state);

}  // namespace l4
