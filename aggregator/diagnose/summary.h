// The sentence at the head of a report. Pure text.
#pragma once

#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

/// One sentence: the failure, its place, its time and the known cause.
std::string summarise(const Report& report);

}  // namespace l4::diagnose
