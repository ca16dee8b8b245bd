// Alerts as PagerDuty's Events API v2 expects them: trigger, and resolve with the same dedup_key.
//
// The stored event has no routing key; it is inserted when the event is sent. Pure functions.
#pragma once

#include <string>

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

extern const SinkKind kPagerDuty;

std::string to_pagerduty(const Alert& alert, const Origin& from);
std::string with_routing_key(const std::string& event, const std::string& key);

/// At most 255 characters, the same for all alerts of one incident.
std::string dedup_key(const Alert& alert, const Origin& from);

}  // namespace l4::alert
