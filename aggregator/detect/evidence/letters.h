// Letters of texts in which words are looked for, in ASCII alone.
//
// Place in the flow: wording and statement. `common/base/ascii.h` has the classes of names.
#pragma once

#include "common/base/ascii.h"

namespace l4::detect {

constexpr bool is_word(char c) {
  return is_letter(c) || is_digit(c);
}

}  // namespace l4::detect
