// The sentence at the head of a report. Pure text.
#pragma once

#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

/// One sentence that says what happened, where, when and what is known of the cause.
std::string summarise(const Report& report);

}  // namespace l4::diagnose
