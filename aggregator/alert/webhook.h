// Alerts as JSON of our own (schema l4.alert/1), posted to any URL, signed if there is a secret.
#pragma once

#include <string>
#include <string_view>

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

/// HMAC-SHA256 in hexadecimal digits.
std::string signature(std::string_view secret, std::string_view body);

}  // namespace l4::alert
