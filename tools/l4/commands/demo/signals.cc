#include "tools/l4/commands/demo/signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace l4::commands::demo {
namespace {

/// Programs that ignore a signal from their start, as under nohup, go on ignoring it.
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&set, number);
  }
  return set;
}

int take_signals(sigset_t& former) {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, &former);
  return ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

}  // namespace

Signals::Signals() : arrived_(take_signals(former_)) {}

Signals::~Signals() {
  // Takes the waiting signals, which would end the program once they are let through.
  static_cast<void>(come());
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

std::optional<int> Signals::come() {
  signalfd_siginfo signal{};
  while (::read(arrived_.number(), &signal, sizeof signal) == sizeof signal)
    if (!first_) first_ = static_cast<int>(signal.ssi_signo);
  return first_;
}

}  // namespace l4::commands::demo
