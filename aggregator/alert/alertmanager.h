// Alerts as Prometheus Alertmanager's API v2 expects them (POST /api/v2/alerts).
//
// Labels identify an alert, so they hold what never changes while an incident lasts; all else is an
// annotation. Severity may change: the alert with the former severity ends then. An open alert has
// no end time: Alertmanager ends it when it is no longer sent (`resolve_timeout`). The objects are
// stored without the brackets of the array. Pure functions.
#pragma once

#include <string>

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

extern const SinkKind kAlertmanager;

std::string to_alertmanager(const Alert& alert, const Origin& from);

/// The URL of the API; `url` is the URL of Alertmanager, or already that of the API.
std::string alertmanager_url(std::string url);

}  // namespace l4::alert
