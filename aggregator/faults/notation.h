// The notation of patterns: a pattern is written like the line and also matches its template.
//
// Flow: config/faults/*.toml -> expand_pattern -> RE2. `{n}` is a number, `{w}` a word, and both
// also match `<*>`; a blank matches one or more. Masking replaces more than the digits of a number
// (common/drain/mask.h), and an expanded pattern allows for that:
//   `rank {n}, retcode`     words of only values and punctuation also match one `<*>`
//   `XFS \({w}\): error`    such a word in parentheses may be missing
//   `status\({n},{n}\)`     numbers joined by a mark also match one number
//   `after {n} ms`          a unit belongs to its number
//   `on .*: Invalid`        `.*` with the marks behind it also matches a text that ends with `<*>`
//   `EXT4-fs`, `mlx5_core`  up to three digits in a name also match `<*>`
// Other digits must match literally. A number that masking hides can only be required as a code
// (fault.h, Condition). Pure.
#pragma once

#include <string>
#include <string_view>

namespace l4::faults {

std::string expand_pattern(std::string_view pattern);

}  // namespace l4::faults
