#include "common/wire/control.h"

#include <array>

namespace l4::wire {

std::string_view to_string(Shedding shedding) {
  static constexpr std::array<std::string_view, kSheddings> kNames{"nothing", "examples", "order",
                                                                   "parameters", "counts"};
  return kNames.at(static_cast<std::size_t>(shedding));
}

}  // namespace l4::wire
