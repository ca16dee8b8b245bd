// Labels and names at the front of a line that look like ordinary text: `13: `, `[13] `,
// `node-1: `, `worker-0  | `.
//
// Only their recurrence shows that they are prefixes: agent/decode/survey.h counts them, and
// agent/decode/speaker_prefix.h removes them. Pure functions over one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/ids.h"

namespace l4::decode {

/// The separator between a name at the front of a line and the text.
enum class Front : std::uint8_t {
  colon,      ///< pdsh: `node-1: text`
  rank,       ///< PALS: `node-1 3: text`
  bar,        ///< docker compose: `worker-0  | text`
  container,  ///< stern: `llama-worker-0 pytorch text`
};
inline constexpr std::size_t kFronts = 4;

/// The label of `13: `, with blanks before it; empty if the line does not begin so.
std::optional<std::int32_t> label_of(std::string_view line, std::size_t& length);
/// The label of `[13] `; empty if the line does not begin so.
std::optional<std::int32_t> bracket_label_of(std::string_view line, std::size_t& length);

/// A name at the front of a line that may be a host or a pod.
struct FrontName {
  std::string_view name;  ///< empty: none
  Front front = Front::colon;
  std::size_t length = 0;  ///< length of name and separator
  std::optional<Rank> rank;
};
FrontName front_name_of(std::string_view line);

/// True if `name` may be a host: it has a host's length and is not a source file.
bool host_like(std::string_view name);

}  // namespace l4::decode
