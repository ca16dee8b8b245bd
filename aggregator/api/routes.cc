#include "aggregator/api/routes.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "aggregator/api/alert_api.h"
#include "aggregator/api/fault_api.h"
#include "aggregator/api/flow_api.h"
#include "aggregator/api/incident_api.h"
#include "aggregator/api/job_api.h"
#include "aggregator/api/label_api.h"
#include "aggregator/api/lines_api.h"
#include "aggregator/api/nic_api.h"
#include "aggregator/api/pool_api.h"
#include "aggregator/api/quiet_api.h"
#include "aggregator/api/score_api.h"
#include "aggregator/api/session_api.h"
#include "aggregator/api/snapshot_api.h"
#include "aggregator/api/status_api.h"
#include "aggregator/serve/utf8.h"

namespace l4::api {
namespace {

using http::Access;

/// A handler that has its answer at once.
template <http::Response (*answer)(const RouteCall&)>
void at_once(const RouteCall& call) {
  call.reply(answer(call));
}

constexpr std::array<ParameterRow, 0> kNone{};
constexpr std::array kPage{ParameterRow{"count", Value::count}, ParameterRow{"after", Value::text}};
constexpr std::array kSnapshot{ParameterRow{"at", Value::text}};
constexpr std::array kNodes{ParameterRow{"count", Value::count}, ParameterRow{"after", Value::text},
                            ParameterRow{"last", Value::flag}};
constexpr std::array kBrief{ParameterRow{"rows", Value::rows}, ParameterRow{"last", Value::flag}};
constexpr std::array kSnapshots{ParameterRow{"count", Value::count},
                                ParameterRow{"before", Value::text}};
constexpr std::array kLines{
    ParameterRow{"template", Value::own}, ParameterRow{"node", Value::own},
    ParameterRow{"rank", Value::own},     ParameterRow{"around", Value::own},
    ParameterRow{"context", Value::own},  ParameterRow{"limit", Value::own},
};
constexpr std::array kScores{
    ParameterRow{"what", Value::own},  ParameterRow{"from", Value::text},
    ParameterRow{"to", Value::text},   ParameterRow{"width", Value::count},
    ParameterRow{"rows", Value::rows},
};
constexpr std::array kScoreTerms{
    ParameterRow{"what", Value::own}, ParameterRow{"from", Value::text},
    ParameterRow{"to", Value::text},  ParameterRow{"width", Value::count},
    ParameterRow{"node", Value::own}, ParameterRow{"phase", Value::own},
    ParameterRow{"at", Value::own},
};
constexpr std::array kJobFlows{ParameterRow{"count", Value::count}};
constexpr std::array kAlerts{
    ParameterRow{"sink", Value::text},
    ParameterRow{"count", Value::count},
    ParameterRow{"after", Value::text},
};
constexpr std::array kIncidents{
    ParameterRow{"job", Value::text},    ParameterRow{"fault", Value::text},
    ParameterRow{"node", Value::text},   ParameterRow{"open", Value::flag},
    ParameterRow{"count", Value::count}, ParameterRow{"after", Value::text},
};
constexpr std::array kMaintenance{
    ParameterRow{"over", Value::flag},
    ParameterRow{"count", Value::count},
    ParameterRow{"after", Value::text},
};
constexpr std::array kEvents{ParameterRow{"job", Value::text}};
constexpr std::array kFaults{
    ParameterRow{"confirmed", Value::flag}, ParameterRow{"whole", Value::flag},
    ParameterRow{"format", Value::format},  ParameterRow{"count", Value::count},
    ParameterRow{"after", Value::text},
};
constexpr std::array kPool{
    ParameterRow{"whole", Value::flag},
    ParameterRow{"kind", Value::text},
    ParameterRow{"count", Value::count},
    ParameterRow{"after", Value::text},
};

constexpr std::array kRoutes{
    RouteRow{"jobs", "GET", "/api/v1/jobs", "jobs that are watched", Access::read, Reach::rows,
             Sharing::shared, kPage, list_jobs},
    RouteRow{"job", "GET", "/api/v1/jobs/{id}", "one of them", Access::read, Reach::job,
             Sharing::shared, kNone, show_job},
    RouteRow{"snapshot", "GET", "/api/v1/jobs/{id}/snapshot", "report of a job as it stands",
             Access::read, Reach::job, Sharing::shared, kSnapshot, show_snapshot},
    RouteRow{"brief", "GET", "/api/v1/jobs/{id}/brief", "the head of that report", Access::read,
             Reach::job, Sharing::shared, kBrief, show_brief},
    RouteRow{"snapshots", "GET", "/api/v1/jobs/{id}/snapshots", "reports that were stored",
             Access::read, Reach::job, Sharing::single, kSnapshots, at_once<list_snapshots>},
    RouteRow{"store_snapshot", "POST", "/api/v1/jobs/{id}/snapshots",
             "stores the report of a job as it stands", Access::change, Reach::job, Sharing::single,
             kNone, store_snapshot},
    RouteRow{"nodes", "GET", "/api/v1/jobs/{id}/nodes", "nodes of a job, suspects first",
             Access::read, Reach::job, Sharing::shared, kNodes, list_nodes},
    RouteRow{"iterations", "GET", "/api/v1/jobs/{id}/iterations",
             "iterations of a job that stand out", Access::read, Reach::job, Sharing::shared, kPage,
             list_iterations},
    RouteRow{"scores", "GET", "/api/v1/jobs/{id}/scores",
             "how far nodes, ranks or phases are from what is usual", Access::read, Reach::job,
             Sharing::shared, kScores, show_scores},
    RouteRow{"score_terms", "GET", "/api/v1/jobs/{id}/scores/terms",
             "what the score of one cell is made of", Access::read, Reach::job, Sharing::shared,
             kScoreTerms, show_score_terms},
    RouteRow{"nics", "GET", "/api/v1/jobs/{id}/nics",
             "network cards of a job's nodes: activity, steps, errors", Access::read, Reach::job,
             Sharing::shared, kNone, show_nics},
    RouteRow{"job_flows", "GET", "/api/v1/jobs/{id}/flows",
             "a job as the training network shows it", Access::read, Reach::job, Sharing::shared,
             kJobFlows, show_job_flows},
    RouteRow{"flows", "GET", "/api/v1/flows", "jobs that flow records show", Access::read,
             Reach::rows, Sharing::shared, kPage, list_flows},
    RouteRow{"lines", "GET", "/api/v1/jobs/{id}/lines", "raw lines, read on the nodes",
             Access::read, Reach::job, Sharing::single, kLines, list_lines},
    RouteRow{"agents", "GET", "/api/v1/agents", "agents and how they are connected", Access::read,
             Reach::site, Sharing::shared, kPage, list_agents},
    RouteRow{"status", "GET", "/api/v1/status", "the aggregator itself: disk, absent agents, sinks",
             Access::read, Reach::site, Sharing::single, kNone, show_status},
    RouteRow{"alerts", "GET", "/api/v1/alerts", "alerts: what each sink took, what waits and why",
             Access::read, Reach::site, Sharing::single, kAlerts, at_once<list_alerts>},
    RouteRow{"test_alerts", "POST", "/api/v1/alerts/test", "tries the sinks of alerts",
             Access::change, Reach::site, Sharing::single, kNone, test_alerts},
    RouteRow{"incidents", "GET", "/api/v1/incidents", "failures of jobs, open and resolved",
             Access::read, Reach::rows, Sharing::single, kIncidents, at_once<list_incidents>},
    RouteRow{"incident", "GET", "/api/v1/incidents/{id}", "a failure with its report", Access::read,
             Reach::rows, Sharing::single, kNone, at_once<show_incident>},
    RouteRow{"incident_brief", "GET", "/api/v1/incidents/{id}/brief",
             "a failure with the head of its report", Access::read, Reach::rows, Sharing::single,
             kNone, at_once<show_incident_brief>},
    RouteRow{"near_faults", "GET", "/api/v1/incidents/{id}/near_faults",
             "known faults whose words are nearest to those of a failure", Access::read,
             Reach::rows, Sharing::single, kNone, at_once<list_near_faults>},
    RouteRow{"label_incident", "POST", "/api/v1/incidents/{id}/label",
             "tells what an incident was, to fit confidences to", Access::change, Reach::rows,
             Sharing::single, kNone, at_once<label_incident>},
    RouteRow{"labels", "GET", "/api/v1/labels", "what people told of incidents and jobs",
             Access::read, Reach::rows, Sharing::single, kPage, at_once<list_labels>},
    RouteRow{"acknowledge", "POST", "/api/v1/incidents/{id}/acknowledgement",
             "tells that somebody looks after an incident", Access::change, Reach::rows,
             Sharing::single, kNone, at_once<acknowledge>},
    RouteRow{"take_back_acknowledgement", "DELETE", "/api/v1/incidents/{id}/acknowledgement",
             "tells that nobody does any more", Access::change, Reach::rows, Sharing::single, kNone,
             at_once<take_back_acknowledgement>},
    RouteRow{"maintenance", "GET", "/api/v1/maintenance",
             "jobs and nodes about which nobody is alerted", Access::read, Reach::rows,
             Sharing::single, kMaintenance, at_once<list_maintenance>},
    RouteRow{"begin_maintenance", "POST", "/api/v1/maintenance",
             "silences a job or a node for a time", Access::change, Reach::rows, Sharing::single,
             kNone, begin_maintenance},
    RouteRow{"end_maintenance", "DELETE", "/api/v1/maintenance/{id}", "ends that before its time",
             Access::change, Reach::rows, Sharing::single, kNone, at_once<end_maintenance>},
    RouteRow{"events", "GET", "/api/v1/events", "changes of incidents and jobs, as they come",
             Access::read, Reach::rows, Sharing::single, kEvents, at_once<follow_events>},
    RouteRow{"job_events", "GET", "/api/v1/jobs/{id}/events", "those of one job", Access::read,
             Reach::job, Sharing::single, kNone, follow_job},
    RouteRow{"faults", "GET", "/api/v1/faults", "known faults", Access::read, Reach::rows,
             Sharing::single, kFaults, at_once<list_faults>},
    RouteRow{"fault", "GET", "/api/v1/faults/{id}", "a known fault, with cause and fix",
             Access::read, Reach::rows, Sharing::single, kNone, at_once<show_fault>},
    RouteRow{"confirm_fault", "POST", "/api/v1/faults", "confirms the fault behind an incident",
             Access::change, Reach::site, Sharing::single, kNone, confirm_fault},
    RouteRow{"drop_fault", "DELETE", "/api/v1/faults/{id}", "withdraws a confirmed fault",
             Access::change, Reach::site, Sharing::single, kNone, drop_fault},
    RouteRow{"outcome", "POST", "/api/v1/jobs/{id}/outcome", "tells how a job ended",
             Access::change, Reach::job, Sharing::single, kNone, record_outcome},
    RouteRow{"pool", "GET", "/api/v1/pool", "healthy runs that jobs are held against", Access::read,
             Reach::rows, Sharing::single, kPool, at_once<list_pool>},
    RouteRow{"pool_run", "GET", "/api/v1/pool/{id}", "one of them, with its events", Access::read,
             Reach::rows, Sharing::single, kNone, at_once<show_pool_run>},
    RouteRow{"import_pool", "POST", "/api/v1/pool", "adds runs, or replaces them", Access::change,
             Reach::site, Sharing::single, kNone, at_once<import_pool>},
    RouteRow{"drop_pool_run", "DELETE", "/api/v1/pool/{id}", "drops a run", Access::change,
             Reach::site, Sharing::single, kNone, at_once<drop_pool_run>},
    RouteRow{"session", "GET", "/api/v1/session", "who asks, and what they may do", Access::read,
             Reach::none, Sharing::single, kNone, at_once<show_session>},
    RouteRow{"begin_session", "POST", "/api/v1/session", "signs in: a cookie stands for the token",
             Access::read, Reach::none, Sharing::single, kNone, at_once<show_session>},
    RouteRow{"end_session", "DELETE", "/api/v1/session", "signs out", Access::read, Reach::none,
             Sharing::single, kNone, at_once<show_session>},
    RouteRow{"healthz", "GET", "/healthz", "whether the aggregator does its work", Access::open,
             Reach::none, Sharing::single, kNone, at_once<show_health>},
    RouteRow{"readyz", "GET", "/readyz", "whether it can be asked and sent to", Access::open,
             Reach::none, Sharing::single, kNone, at_once<show_readiness>},
    RouteRow{"metrics", "GET", "/metrics", "counters and gauges for Prometheus", Access::read,
             Reach::rows, Sharing::shared, kNone, show_metrics},
};

/// The segment that stands for {id} (empty: the pattern has none), if the path has this pattern.
std::optional<std::string> id_of(std::string_view pattern,
                                 const std::vector<std::string>& segments) {
  std::string id;
  for (const std::string& segment : segments) {
    if (pattern.empty()) return {};
    pattern.remove_prefix(1);
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    if (part.starts_with('{')) {
      if (segment.empty()) return {};
      id = segment;
    } else if (part != segment) {
      return {};
    }
    pattern.remove_prefix(part.size());
  }
  if (!pattern.empty()) return {};
  return id;
}

}  // namespace

std::span<const RouteRow> routes() {
  return kRoutes;
}

std::expected<RouteMatch, http::Response> match_route(const http::Request& request) {
  std::string methods;
  for (const RouteRow& row : kRoutes) {
    auto id = id_of(row.pattern, request.segments);
    if (!id) continue;
    if (row.method == request.method) return RouteMatch{&row, std::move(*id)};
    methods += fmt::format("{}{}", methods.empty() ? "" : ", ", row.method);
  }
  if (!methods.empty())
    return std::unexpected(http::error_response(405, "method_not_allowed",
                                                fmt::format("this path is there for {}", methods)));
  return std::unexpected(http::error_response(
      404, "not_found", fmt::format("there is nothing at {}", serve::cut(request.path, 200))));
}

http::Need need_of(const http::Request& request) {
  for (const RouteRow& row : kRoutes)
    if ((row.method == request.method || row.access == Access::open) &&
        id_of(row.pattern, request.segments))
      return {row.access, row.reach == Reach::site};
  return {request.method == "GET" ? Access::read : Access::change, false};
}

bool is_shared(const http::Request& request) {
  const auto matched = match_route(request);
  return matched && matched->route->sharing == Sharing::shared;
}

}  // namespace l4::api
