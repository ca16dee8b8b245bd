// Alerts as PagerDuty's Events API v2 takes them: trigger, and resolve with the same dedup_key.
//
// What is stored has no routing key; it is put in when it is sent. Pure functions.
#pragma once

#include <string>

#include "aggregator/alert/alert.h"

namespace l4::alert {

std::string to_pagerduty(const Alert& alert, const std::string& source);
std::string with_routing_key(const std::string& event, const std::string& key);

/// At most 255 characters, the same for all alerts of one incident.
std::string dedup_key(const Alert& alert, const std::string& source);

}  // namespace l4::alert
