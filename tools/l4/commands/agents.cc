#include "tools/l4/commands/agents.h"

#include "tools/l4/commands/listing.h"

namespace l4::commands {

const char* const kAgentsFooter =
    R"(Lost agents stand first. "held" is what an agent keeps because it is not acknowledged yet,
"left out" what it no longer sends of each line, under pressure; "clock" by how much its clock
is ahead.

Exit status:
  0   the aggregator answered
  2   wrong use, or output that cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

void add_agents(terminal::Options& to, AgentsOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
}

int run_agents(const AgentsOptions& options) {
  constexpr auto kProgram = "l4 agents";
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kProgram);
  return show_list(options.format, *asked,
                   ask::fetch_list(*asked, "/api/v1/agents", "agents", kListTimeout),
                   ask::read_agents, kProgram);
}

}  // namespace l4::commands
