// Prepares the process before it does anything else.
//
// Called once by main, before any thread. Afterwards the three standard descriptors are open, so
// that no file of ours takes their numbers; a reader of standard output that goes away makes writes
// fail and does not kill (see finish_output); and memory that runs out ends the program with a
// message and with its temporary files removed, as SIGTERM does.
#pragma once

namespace l4::terminal {

void prepare_process();

}  // namespace l4::terminal
