// The two lists of the text report that name names: suspected nodes, and the events against them.
//
// Each says in a sentence if it is empty. Thread-safe, no state; private to this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aggregator/diagnose/report.h"
#include "aggregator/serve/page.h"

namespace l4::serve {

void put_suspects(Page& page, const diagnose::Report& report, std::size_t top);
void put_events(Page& page, const diagnose::Report& report, std::size_t top);

/// Harmless and at most `cells_max` wide.
std::string shortened(std::string_view text, std::size_t cells_max);

}  // namespace l4::serve
