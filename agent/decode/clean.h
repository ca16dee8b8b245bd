// Cleans a line of bytes that are not text: ANSI sequences, NUL and control bytes, invalid UTF-8.
//
// Second stage of the decoder, after the envelope. ANSI sequences are removed even if their ESC
// byte was lost (`[93m`). Invalid bytes become U+FFFD, or the letter that they are in Latin-1 where
// they stand in a word; NUL and control bytes are dropped. A clean
// line is returned as it is; a dirty one is rewritten into `scratch`, which keeps its capacity. No
// state, thread-safe.
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

/// True if a line of `bytes` is binary data: a tenth of random bytes are control characters. NUL
/// does not count, because crashed writers leave it in logs. Invalid UTF-8 alone does not count
/// either, because the text may have another encoding.
bool is_no_text(std::size_t bytes, const Dirt& dirt);

}  // namespace l4::decode
