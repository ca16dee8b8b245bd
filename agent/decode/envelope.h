// Container runtimes wrap each line: CRI (`2024-..Z stdout F text`) and docker's JSON.
//
// The decoder opens envelopes before it reads anything else of a line. Runtimes split long lines;
// `partial` says that the next line of the same stream continues this one (the decoder joins
// them). Each line is recognised for itself, so a file may mix wrapped and bare lines. The kinds of
// envelope are the rows of kEnvelopes in envelope.cc. Pure functions; docker's text is unescaped
// into `scratch`.
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

/// True if some envelope begins with the line's first character; false for most lines.
bool may_be_wrapped(std::string_view line);

}  // namespace l4::decode
