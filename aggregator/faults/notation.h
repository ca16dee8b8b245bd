// The notation of patterns: written as the line reads, and true of its template as well.
//
// Flow: config/faults/*.toml -> expand_pattern -> RE2. `{n}` is a number, `{w}` a word, either also
// `<*>`; a blank stands for one or more. Beside numbers masking takes more away than the digits
// (common/drain/mask.h), and a pattern allows for that by itself:
//   `rank {n}, retcode`     a word, or words, of values and punctuation alone may be one `<*>`
//   `XFS \({w}\): error`    such a word in parentheses may be missing
//   `status\({n},{n}\)`     numbers that a mark joins may be one
//   `after {n} ms`          a unit belongs to its number
//   `on .*: Invalid`        so may be what `.*` ends with, and its marks
//   `EXT4-fs`, `mlx5_core`  up to three digits in a name may be `<*>`
// Digits that stand for themselves must be there: a number that masking hides cannot be asked for,
// but as a code (fault.h, Condition). Pure.
#pragma once

#include <string>
#include <string_view>

namespace l4::faults {

std::string expand_pattern(std::string_view pattern);

}  // namespace l4::faults
