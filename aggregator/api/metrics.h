// Counts of the aggregator, as text for Prometheus.
//
// Flow: status_api.cc -> here -> Reply. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "aggregator/http/counters.h"
#include "aggregator/http/job_limit.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// Jobs in memory that have series of their own: the running ones that began last. The series
/// `jobs_without_series` counts the others.
inline constexpr std::size_t kJobSeriesMax = 200;

std::string render_metrics(const live::Counts& counts, const live::Health& health,
                           const http::ServerCounts& http = {});

/// The series of the single jobs that the limit includes, and nothing else.
std::string render_job_metrics(const live::Counts& counts, const http::JobLimit& limit);

}  // namespace l4::api
