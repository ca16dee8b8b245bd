// What an alert says, as short texts that every service can take.
//
// Texts of jobs are made harmless (no control characters) and cut. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aggregator/alert/alert.h"

namespace l4::alert {

/// Harmless and at most `cells` wide.
std::string brief(std::string_view text, std::size_t cells);

/// One line: the job, its state, the summary.
std::string headline(const Alert& alert);

/// What may change while an incident lasts, by its name; what is not known is left out.
std::vector<std::pair<std::string, std::string>> details(const Alert& alert);

}  // namespace l4::alert
