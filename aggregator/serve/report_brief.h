// The head of a report as JSON: all that a page shows of it at first, however large the job.
//
// Flow: LiveJob's report -> brief_json() -> aggregator/api answers it. The report of a job of 2,000
// nodes x 8 ranks has 5 MB, nearly all of it nodes and ranks against which nothing speaks. Lists
// that do not grow with the job stay whole. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <string>

#include "aggregator/diagnose/report.h"

namespace l4::serve {

/// `report` with at most `rows` of each list of nodes, warnings and files, and the ranks of those
/// nodes; `whole` says how many there are in all (schema Brief of openapi.yaml).
std::string brief_json(const diagnose::Report& report, std::size_t rows);
/// The report in what brief_json() wrote; an empty one if it cannot be read.
diagnose::Report report_in_brief(const std::string& brief);

}  // namespace l4::serve
