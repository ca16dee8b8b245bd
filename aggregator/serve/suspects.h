// Two lists of the text report: suspected nodes, and the events against them.
//
// An empty list becomes a sentence. Thread-safe, no state; private to this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aggregator/diagnose/report.h"
#include "aggregator/serve/page.h"

namespace l4::serve {

void render_suspects(Page& page, const diagnose::Report& report, std::size_t top);
void render_events(Page& page, const diagnose::Report& report, std::size_t top);

/// The text without control characters, cut to a width of `cells_max`.
std::string shortened(std::string_view text, std::size_t cells_max);

}  // namespace l4::serve
