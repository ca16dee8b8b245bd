// A program's use of its host as series of its Metrics: processor, memory, open files.
//
// Place in the flow: called before /metrics is rendered. Reads /proc/self of this process;
// what cannot be read is left out. Thread-safe, no state.
#pragma once

#include <string>

#include "common/metrics/metrics.h"

namespace l4::metrics {

/// Series PREFIXprocess_..., named as other programs name them behind the prefix.
void add_process(Metrics& to, const std::string& prefix);

}  // namespace l4::metrics
