// Alerts for incoming webhooks of Slack, and of services with the same API (Mattermost,
// Rocket.Chat).
//
// `text` for notifications and old clients, blocks for the rest. Texts of jobs cannot mention
// anybody or make links: `&`, `<` and `>` are escaped, and no control character is left. Pure.
#pragma once

#include <string>

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

extern const SinkKind kSlack;

std::string to_slack(const Alert& alert, const Origin& from);

}  // namespace l4::alert
