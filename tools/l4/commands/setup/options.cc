#include "tools/l4/commands/setup/command.h"

namespace l4::commands::setup {
namespace {

constexpr auto kSetupFooter = R"('l4 setup COMMAND --help' says more about a command.)";

constexpr auto kExit = R"(

What is asked is shown with a default; without a terminal the three options are required. Settings
with which the program could not start are not written; whatever else is amiss on this machine is
said, with the next step.

Exit status:
  0   written (or shown), and all is well
  2   wrong use, or nothing could be written
  10  written (or shown), but something is to be looked at)";

constexpr auto kAggregatorFooter =
    R"(Looks at the keys, the ports, the state folder, and the rights of the unit's user.

Examples:
  l4 setup aggregator
  l4 setup aggregator --address tcp://head-node:7430 --keys /etc/l4/keys --http 127.0.0.1:7440
  l4 setup aggregator --print)";

constexpr auto kAgentFooter =
    R"(Looks at the files that each source matches, the key, the aggregator at its address, the
state folder, and the rights of the unit's user. Put patterns in quotes, so that the shell keeps
them.

Examples:
  l4 setup agent
  l4 setup agent --aggregator tcp://head-node:7430 --key /etc/l4/agent.key \
    --sources '/var/log/training/*/*.log')";

void add_common(terminal::Options& to, CommonOptions& options, const char* out, const char* state) {
  to.value("--state", options.state, "DIR", state);
  to.value("--out", options.out, "FILE", out);
  to.flag("--replace", options.replace, "replace a file that is there; it is kept as FILE.before");
  to.flag("--print", options.print, "show the settings and write nothing");
  to.format(options.format);
}

void add_aggregator(terminal::Options& to, AggregatorOptions& options) {
  to.value("--address", options.address, "tcp://HOST:PORT", "address at which agents reach it");
  to.value("--keys", options.keys, "DIR", "folder of keys that 'l4 keys init' has made");
  to.value("--http", options.http, "ADDRESS:PORT",
           "where l4 and Prometheus ask it; other than loopback needs tokens");
  to.value("--tokens", options.tokens, "FILE",
           "tokens (default: those of the keys' folder, if any)");
  add_common(to, options, "file to write (default: /etc/l4/aggregator.toml)",
             "folder of its state (default: /var/lib/l4-aggregator)");
}

void add_agent(terminal::Options& to, AgentOptions& options) {
  to.value("--aggregator", options.aggregator, "tcp://HOST:PORT", "address of the aggregator");
  to.value("--key", options.key, "FILE", "this node's key");
  to.value("--sources", options.sources, "PATTERN", "folders, files or patterns of logs");
  add_common(to, options, "file to write (default: /etc/l4/agent.toml)",
             "folder of its state (default: /var/lib/l4-agent)");
}

}  // namespace

AggregatorOptions::AggregatorOptions() {
  out = "/etc/l4/aggregator.toml";
  state = "/var/lib/l4-aggregator";
}

AgentOptions::AgentOptions() {
  out = "/etc/l4/agent.toml";
  state = "/var/lib/l4-agent";
}

terminal::Command setup_command() {
  return terminal::command_group(
      "setup", "write settings of aggregator or agent, and check this machine", kSetupFooter,
      {terminal::command("aggregator", "settings of l4-aggregator from three answers",
                         std::string(kAggregatorFooter) + kExit, add_aggregator,
                         run_setup_aggregator),
       terminal::command("agent", "settings of l4-agent from three answers",
                         std::string(kAgentFooter) + kExit, add_agent, run_setup_agent)});
}

}  // namespace l4::commands::setup
