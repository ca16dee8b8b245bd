// tqdm bars: ` 10%|###  | 10/100 [00:05<00:45,  2.00it/s]`, and the text that follows one.
//
// Text that is printed behind an unfinished bar stands on the bar's line; the bar ends at its
// closing bracket. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace l4::decode {

struct Bar {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::string_view behind;  ///< text after the bar's closing bracket, trimmed
};

/// Empty if the line does not begin with a bar.
std::optional<Bar> find_bar(std::string_view line);

}  // namespace l4::decode
