// What the aggregator answers over HTTP: one list for the router, the tests and the documents.
//
// Place in the flow: Server -> match -> the aggregator's function for the route.
// schemas/openapi.yaml and docs/OPERATIONS.md name the same routes; tests/openapi_test.py compares
// them with this list. Thread-safe, no state.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/http/server.h"

namespace l4::http {

enum class Route : std::uint8_t {
  jobs,
  job,
  snapshot,
  snapshots,
  store_snapshot,
  nodes,
  iterations,
  lines,
  agents,
  incidents,
  incident,
  events,
  job_events,
  faults,
  fault,
  confirm_fault,
  drop_fault,
  outcome,
  pool,
  pool_run,
  import_pool,
  drop_pool_run,
  healthz,
  readyz,
  metrics,
};

struct RouteRow {
  Route route;
  std::string_view method;   ///< GET answers HEAD, too; others change something
  std::string_view pattern;  ///< {name} stands for one segment that is not empty
  std::string_view what;
};

inline constexpr std::array kRoutes{
    RouteRow{Route::jobs, "GET", "/api/v1/jobs", "jobs that are watched"},
    RouteRow{Route::job, "GET", "/api/v1/jobs/{id}", "one of them"},
    RouteRow{Route::snapshot, "GET", "/api/v1/jobs/{id}/snapshot", "report of a job as it stands"},
    RouteRow{Route::snapshots, "GET", "/api/v1/jobs/{id}/snapshots", "reports that were stored"},
    RouteRow{Route::store_snapshot, "POST", "/api/v1/jobs/{id}/snapshots",
             "stores the report of a job as it stands"},
    RouteRow{Route::nodes, "GET", "/api/v1/jobs/{id}/nodes", "nodes of a job, suspects first"},
    RouteRow{Route::iterations, "GET", "/api/v1/jobs/{id}/iterations",
             "iterations of a job that stand out"},
    RouteRow{Route::lines, "GET", "/api/v1/jobs/{id}/lines", "raw lines, read on the nodes"},
    RouteRow{Route::agents, "GET", "/api/v1/agents", "agents and how they are connected"},
    RouteRow{Route::incidents, "GET", "/api/v1/incidents", "failures of jobs, open and resolved"},
    RouteRow{Route::incident, "GET", "/api/v1/incidents/{id}", "a failure with its report"},
    RouteRow{Route::events, "GET", "/api/v1/events", "changes of incidents and jobs, as they come"},
    RouteRow{Route::job_events, "GET", "/api/v1/jobs/{id}/events", "those of one job"},
    RouteRow{Route::faults, "GET", "/api/v1/faults", "known faults"},
    RouteRow{Route::fault, "GET", "/api/v1/faults/{id}", "a known fault, with cause and fix"},
    RouteRow{Route::confirm_fault, "POST", "/api/v1/faults",
             "confirms the fault behind an incident"},
    RouteRow{Route::drop_fault, "DELETE", "/api/v1/faults/{id}", "withdraws a confirmed fault"},
    RouteRow{Route::outcome, "POST", "/api/v1/jobs/{id}/outcome", "tells how a job ended"},
    RouteRow{Route::pool, "GET", "/api/v1/pool", "healthy runs that jobs are held against"},
    RouteRow{Route::pool_run, "GET", "/api/v1/pool/{id}", "one of them, with its events"},
    RouteRow{Route::import_pool, "POST", "/api/v1/pool", "adds runs, or replaces them"},
    RouteRow{Route::drop_pool_run, "DELETE", "/api/v1/pool/{id}", "drops a run"},
    RouteRow{Route::healthz, "GET", "/healthz", "whether the aggregator does its work"},
    RouteRow{Route::readyz, "GET", "/readyz", "whether it can be asked and sent to"},
    RouteRow{Route::metrics, "GET", "/metrics", "counters and gauges for Prometheus"},
};

struct Match {
  Route route = Route::jobs;
  std::vector<std::string> arguments;  ///< what stands for {...}, in order
};

/// Or what to answer: 404, or 405 where the path is known with another method.
std::expected<Match, Response> match(const Request& request);

}  // namespace l4::http
