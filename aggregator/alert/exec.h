// Alerts as JSON (schema l4.alert/1) on the standard input of a program (command.h).
#pragma once

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

extern const SinkKind kExec;

}  // namespace l4::alert
