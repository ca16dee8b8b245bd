// The first suspect's process was ended from outside: the exit as a line that the fault library
// knows.
// Flow: suspects put exit_sentence() into ranks[].why; struck() reads it out of the report, live or
// stored, for the fault library and for an engineer's confirmation. A launcher need not report this
// exit: it names the process whose end it saw first, often a neighbour that lost its peer. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregator/diagnose/report.h"
#include "common/wire/process_fact.h"

namespace l4::diagnose {

/// Whether a signal from outside ended the process: neither SIGTERM, which launchers send to the
/// others, nor SIGABRT, with which a program ends itself and prints the reason.
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
