// Container runtimes wrap each line: CRI (`2024-..Z stdout F text`) and docker's JSON.
//
// Opened before anything else is looked at. Runtimes split long lines; `partial` says that the
// next line of the same stream goes on with this one (the decoder joins them). Recognised line by
// line, so a file may mix wrapped and bare lines. Pure functions; docker's text is unescaped into
// `scratch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace l4::decode {

enum class Stream : std::uint8_t { none, out, err };

struct Envelope {
  std::string_view content;
  std::optional<TimeMs> time;
  Stream stream = Stream::none;
  bool partial = false;
};

/// Empty if the line is not wrapped.
std::optional<Envelope> open_envelope(std::string_view line, std::string& scratch);

/// Spares most lines the attempt.
inline bool may_be_wrapped(std::string_view line) {
  return !line.empty() && (line[0] == '1' || line[0] == '2' || line[0] == '{');
}

}  // namespace l4::decode
