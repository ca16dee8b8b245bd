// The texts of a report, to be changed in one go: what came from logs, names, sentences about them.
//
// Flow: a Report that leaves the site in another form than JSON -> here -> the same report without,
// for instance, secrets. Thread-safe, no state.
#pragma once

#include <functional>
#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::serve {

/// Calls `change` once for every text of the report, in the order of its JSON.
void change_texts(diagnose::Report& report, const std::function<void(std::string&)>& change);

}  // namespace l4::serve
