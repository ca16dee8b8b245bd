// The report as text for an engineer at night: one screen, the verdict first, then what to do.
//
// Flow: aggregator/diagnose makes a Report; `l4 diagnose` and alerts print this form. Thread-safe,
// no state. Lists are cut to `top` and the rest is counted; texts from logs are made harmless
// (utf8.h), so that a line cannot move the cursor, hide or colour anything.
#pragma once

#include <cstddef>
#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::serve {

struct TextStyle {
  bool color = false;       ///< ANSI colours: only on a terminal
  std::size_t width = 100;  ///< cells; less than 60 counts as 60
  std::size_t top = 8;      ///< most elements shown of a list
};

std::string to_text(const diagnose::Report& report, const TextStyle& style);

}  // namespace l4::serve
