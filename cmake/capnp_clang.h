// Cap'n Proto 0.9 under clang >= 16 and C++20 or later: blob.h compares `const char*` with
// StringPtr, which rewritten comparison candidates make ambiguous. One exact overload settles it.
#pragma once
#ifdef __cplusplus
#include <kj/string.h>
namespace kj {
inline bool operator==(const char* a, const StringPtr& b) {
  return b.operator==(StringPtr(a));
}
}  // namespace kj
#endif
