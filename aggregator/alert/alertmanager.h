// Alerts as Prometheus Alertmanager's API v2 takes them (POST /api/v2/alerts).
//
// Labels are what an alert is known by, so they hold what never changes while an incident lasts;
// all else is an annotation. Severity may change: the alert with the other one ends then. Nothing
// open says when it ends: Alertmanager ends it where it is not sent again (`resolve_timeout`).
// Stored are the objects, without the brackets of the array. Pure functions.
#pragma once

#include <string>

#include "aggregator/alert/alert.h"

namespace l4::alert {

std::string to_alertmanager(const Alert& alert, const std::string& source);

/// Of the API; `url` is that of Alertmanager, or already the whole.
std::string alertmanager_url(std::string url);

}  // namespace l4::alert
