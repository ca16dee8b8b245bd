#include "tools/l4/commands/jobs.h"

#include "tools/l4/commands/listing.h"

namespace l4::commands {

const char* const kJobsFooter =
    R"(The jobs that need a look stand first. A question mark behind a state: suspected, and not
yet confirmed. "since" is when it began, "last line" when the aggregator last heard of it.

Examples:
  l4 jobs
  l4 jobs --address http://head-node:7440 --format json
  l4 jobs --address https://head-node:7440 --ca ca.pem

Exit status:
  0   the aggregator answered
  2   wrong use
  3   it did not, or its certificate was not believed

Environment:
  L4_ADDRESS  the aggregator, where --address is not given
  L4_TOKEN    the token to ask with, where --token-file is not given
  L4_CA       whom to believe over https, where --ca is not given
  L4_CLIENT   file that says all three where nothing else does
              (default: ~/.config/l4/client.toml, else /etc/l4/client.toml)
  NO_COLOR    if set, no colours)";

void add_jobs(terminal::Options& to, JobsOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
}

int run_jobs(const JobsOptions& options) {
  constexpr auto kProgram = "l4 jobs";
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kProgram);
  return show_list(options.format, *asked,
                   ask::fetch_list(*asked, "/api/v1/jobs", "jobs", kListTimeout), ask::read_jobs,
                   kProgram);
}

}  // namespace l4::commands
