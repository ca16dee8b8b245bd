// The types of the wire that describe a process.
//
// Flow: ProcessWatch fills wire::ProcessFact, the agent ships it as it is. Names only.
#pragma once

#include "agent/host/host_time.h"
#include "common/wire/process_fact.h"

namespace l4::host {

using wire::AttemptKey;
using wire::Exit;
using wire::letter;
using wire::Part;
using wire::Pid;
using wire::ProcessFact;
using wire::ProcessState;
using wire::text;

}  // namespace l4::host
