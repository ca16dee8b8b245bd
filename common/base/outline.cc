#include "common/base/outline.h"

#include "common/base/collapse.h"
#include "common/base/hash.h"
#include "common/base/outline_memo.h"

namespace l4 {

Outline outline_of(std::string_view line) {
  if (line.empty() || line.size() > Outline::kBytesMax) return {};
  CollapsedText text;
  const CollapsedLine collapsed = collapse(line, text);
  const std::uint64_t hash = hashing::of_bytes(text.data(), collapsed.size);
  return {hash != 0 ? hash : 1, hashing::fold(collapsed.digits ^ hash, hashing::kC) | 1};
}

std::string_view probe(std::string_view line, const DigitProbe& with, std::string& out) {
  out.clear();
  bool in_run = false;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (with.run.empty())
      out += with.digit;
    else if (!in_run)
      out += with.run;
    in_run = digit;
  }
  return out;
}

}  // namespace l4
