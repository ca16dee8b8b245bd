#include "common/base/ids.h"

namespace l4 {

std::string to_string(TemplateId id) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  std::uint64_t rest = id.value();
  for (std::size_t i = text.size(); i-- > 0; rest >>= 4) text[i] = kDigits[rest & 15];
  return text;
}

}  // namespace l4
