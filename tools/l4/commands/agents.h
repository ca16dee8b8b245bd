// `l4 agents`: the agents that a running aggregator knows, as a table or as JSON.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"

namespace l4::commands {

struct AgentsOptions : ask::AskOptions {
  std::string format = "text";
};

extern const char* const kAgentsFooter;
void add_agents(terminal::Options& to, AgentsOptions& options);
/// Exit status: 0 done; 2 output that cannot be written; 3 the aggregator did not answer.
int run_agents(const AgentsOptions& options);

}  // namespace l4::commands
