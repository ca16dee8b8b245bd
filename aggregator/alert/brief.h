// The content of an alert as short texts that every service accepts.
//
// Texts of jobs lose their control characters and are cut. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aggregator/alert/alert.h"

namespace l4::alert {

/// The text without control characters, cut to a width of `cells`.
std::string brief(std::string_view text, std::size_t cells);

/// One line: the job, its state, the summary.
std::string headline(const Alert& alert);

/// Names and texts of the facts that may change while an incident lasts; unknown ones are left
/// out.
std::vector<std::pair<std::string, std::string>> details(const Alert& alert);

}  // namespace l4::alert
