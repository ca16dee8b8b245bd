#include "common/wire/port.h"

#include <array>

namespace l4::wire {

std::string_view to_string(Refusal refusal) {
  static constexpr std::array<std::string_view, kRefusals> kNames{
      "no_handshake", "wrong_key",    "revoked_key", "too_long",          "several_parts",
      "malformed",    "unknown_kind", "version",     "wrong_name",        "name_taken",
      "too_many",     "never_reads",  "over_window", "no_file_descriptor"};
  return kNames.at(static_cast<std::size_t>(refusal));
}

}  // namespace l4::wire
