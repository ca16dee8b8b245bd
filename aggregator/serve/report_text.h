// The report as an engineer reads it at night: one screen, the verdict first, then what to do.
//
// Flow: aggregator/diagnose makes a Report; `l4 diagnose` and alerts print this. Thread-safe, no
// state. Lists are cut to `top` and the rest is counted; whatever stands in the logs is rendered
// harmless (utf8.h), so that a line can not move the cursor, hide or colour anything.
#pragma once

#include <cstddef>
#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::serve {

struct TextStyle {
  bool color = false;       ///< ANSI colours: only where a terminal reads
  std::size_t width = 100;  ///< cells; at least 60 are taken
  std::size_t top = 8;      ///< most elements shown of a list
};

std::string to_text(const diagnose::Report& report, const TextStyle& style);

}  // namespace l4::serve
