// Logs of a healthy run, read for the pool of an aggregator.
//
// Flow: `l4 pool add` -> the offline pipeline -> diagnosis -> pool::make_run. A run is refused if
// its logs do not show that it ended well, unless --anyway is given. Blocking.
#pragma once

#include "aggregator/pool/run.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/commands/pool/command.h"

namespace l4::commands::pool {

ask::Answer<l4::pool::Run> read_healthy(const PoolOptions& options);

}  // namespace l4::commands::pool
