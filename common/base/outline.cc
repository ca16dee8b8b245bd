#include "common/base/outline.h"

#include <algorithm>

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
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  out.clear();
  for (auto at = line.begin(); at != line.end();) {
    const auto digits = std::find_if(at, line.end(), is_digit);
    out.append(at, digits);
    at = std::find_if_not(digits, line.end(), is_digit);
    if (with.run.empty())
      out.append(static_cast<std::size_t>(at - digits), with.digit);
    else if (at != digits)
      out.append(with.run);
  }
  return out;
}

}  // namespace l4
