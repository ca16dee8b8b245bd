// Takes out of a line what is not text: ANSI sequences, NUL and control bytes, invalid UTF-8.
//
// Second stage of the decoder, after the envelope. ANSI is also removed where the ESC byte was
// lost on the way (`[93m`). Invalid bytes become U+FFFD; NUL and control bytes are dropped. A
// clean line is returned as it is; a dirty one is rewritten into `scratch`, which keeps its
// capacity. No state, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace l4::decode {

struct Dirt {
  std::uint64_t invalid_utf8 = 0, nul_bytes = 0, control_bytes = 0;
};

std::string_view clean(std::string_view line, std::string& scratch, Dirt& dirt);

/// True of a line of `bytes` that is binary data: of random bytes every tenth is a control
/// character. NUL does not count, crashed writers leave it in logs; nor do bytes that are no UTF-8
/// alone, as of text in another encoding.
bool is_no_text(std::size_t bytes, const Dirt& dirt);

}  // namespace l4::decode
