// Masking: a message becomes a row of tokens in which numbers, hex, addresses, paths, uuids,
// durations, sizes and times are `<*>`; codes stay.
//
// Flow: TemplateMiner calls masked_line() for every line (no allocation), and masked_row() only if
// the memo does not know the skeleton; both run the same scanner with different sinks. A run of
// values is one `<*>`, and values in parentheses are left out, so that lists of varying length and
// optional remarks do not split an event. At most kTextMax bytes of masked text count. Pure
// functions; hand-written scanners over byte classes, no regex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/ids.h"
#include "common/drain/codes.h"
#include "common/drain/row.h"

namespace l4::drain {

inline constexpr std::size_t kTextMax = 4096;   ///< masked text, blanks included
inline constexpr std::size_t kTokenMax = 1024;  ///< bytes of one masked token; the rest is dropped

/// The hashes of a message's masked row. Each quarter holds every fourth word, so that all quarters
/// hold words even if words and values alternate, as in `rank <*> nranks <*>`.
struct MaskedLine {
  struct Quarter {
    std::uint64_t sum = 0;
    std::uint32_t words = 0;
    bool operator==(const Quarter&) const = default;
  };

  Skeleton skeleton{0};
  std::array<Quarter, 4> quarters;
  std::uint64_t values = 0;  ///< sum of the hashes of all `<*>`
  std::uint32_t tokens = 0;
  bool operator==(const MaskedLine&) const = default;
};
MaskedLine masked_line(std::string_view message, const CodeList& codes);

/// True if a number stands at the position of a code, so that its value decides whether it is
/// masked.
bool may_hold_code(std::string_view message, const CodeList& codes);

/// Hash of the masked row of a message.
Skeleton masked_skeleton(std::string_view message, const CodeList& codes);

/// The masked row itself; its hash() is masked_skeleton().
Row masked_row(std::string_view message, const CodeList& codes);

}  // namespace l4::drain
