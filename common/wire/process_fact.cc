#include "common/wire/process_fact.h"

#include <cstring>

namespace l4::wire {

char letter(ProcessState state) {
  switch (state) {
    case ProcessState::running:
      return 'R';
    case ProcessState::sleeping:
      return 'S';
    case ProcessState::uninterruptible:
      return 'D';
    case ProcessState::stopped:
      return 'T';
    case ProcessState::traced:
      return 't';
    case ProcessState::gone:
      return 'X';
    case ProcessState::unknown:
      break;
  }
  return '?';
}

std::string text(const Exit& exit) {
  if (exit.kind == Exit::Kind::code) return "exit code " + std::to_string(exit.value);
  if (exit.kind == Exit::Kind::unseen) return "exit status not visible: not a child of the agent";
  std::string out = "signal " + std::to_string(exit.value);
  if (const char* name = ::sigabbrev_np(exit.value)) out += " (SIG" + std::string{name} + ")";
  return out;
}

}  // namespace l4::wire
