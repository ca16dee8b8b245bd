// Ends of processes, as evidence reads them.
#pragma once

#include <csignal>
#include <cstdint>

#include "common/wire/process_fact.h"

namespace l4::diagnose {

/// Neither SIGTERM, which launchers send to the others, nor SIGABRT, with which a program ends
/// itself and prints the reason.
inline bool strikes(std::int32_t signal) {
  return signal != SIGABRT && signal != SIGTERM;
}

/// A signal from outside ended the process.
inline bool is_struck(const wire::Exit& exit) {
  return exit.kind == wire::Exit::Kind::signal && strikes(exit.value);
}

}  // namespace l4::diagnose
