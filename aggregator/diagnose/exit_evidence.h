// How the process of the first suspect was ended from outside, as a line that faults are known by.
//
// Flow: suspects put exit_sentence() into ranks[].why; struck() reads it out of the report, live or
// stored, for the fault library and for an engineer's confirmation. A launcher need not say it: it
// tells of the process that it saw end first, often a neighbour that lost its peer. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregator/diagnose/report.h"
#include "common/wire/process_fact.h"

namespace l4::diagnose {

/// By a signal that is neither SIGTERM, which launchers send to the others, nor SIGABRT, with which
/// a program ends itself and says why.
bool is_struck(const wire::Exit& exit);

/// "its process is gone since 2026-11-24T20:08:10.495Z: signal 9 (SIGKILL)"
std::string exit_sentence(TimeMs since, const wire::Exit& exit);

struct Struck {
  std::int32_t signal = 0;
  IndicatingEvent event;  ///< the sentence in the shape of an event: masked text, signal as a value
};
/// The first suspect, if it was struck.
std::optional<Struck> struck(const Report& report);

}  // namespace l4::diagnose
