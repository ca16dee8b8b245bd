// The table of environment variables that identify a rank process; see identity.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace l4::host {

enum class Field : std::uint8_t {
  rank,
  local_rank,
  world_size,
  local_world_size,
  node_rank,
  restart,
  requeue,
  step,
};

/// A row that gives a number. It applies if `key` is set. A `needs` that is not empty must be set,
/// too, and must have the value `needs_value` if that is not empty. `size` is the world that a rank
/// of this row counts in.
struct NumberRule {
  Field field;
  std::string_view key;
  std::string_view needs = {};
  std::string_view needs_value = {};
  std::string_view size = {};
};

/// A job's name: `key` alone, or with `second` behind it after an underscore.
struct JobRule {
  std::string_view key;
  std::string_view second = {};
};

std::span<const NumberRule> number_rules();
std::span<const JobRule> job_rules();

}  // namespace l4::host
