// Open and resolved incidents over HTTP.
//
// Flow: routes.cc -> here -> store::Database -> http::Response. Thread-safe, no state.
#pragma once

#include <expected>

#include "aggregator/api/route_call.h"
#include "aggregator/store/rows.h"

namespace l4::api {

/// `?job=ID`, `?open=true`, `?count=N`, `?after=NEXT`: newest first, without reports. `next` holds
/// the opening time and the id of the page's last incident, so that incidents that open or are
/// dropped meanwhile do not shift the next page.
http::Response list_incidents(const RouteCall& call);
/// The incident {id} of a job that the token may see, without its reports; else the answer: 404, or
/// 503 of the database.
std::expected<store::Incident, http::Response> asked_incident(const RouteCall& call);
/// The same, with its reports.
std::expected<store::Incident, http::Response> asked_incident_with_report(const RouteCall& call);
/// One incident with its report and evidence.
http::Response show_incident(const RouteCall& call);
/// One incident with the head of its report, and its evidence without the report at the opening.
http::Response show_incident_brief(const RouteCall& call);
/// Known faults whose words are nearest to those of the incident's events.
http::Response list_near_faults(const RouteCall& call);

}  // namespace l4::api
