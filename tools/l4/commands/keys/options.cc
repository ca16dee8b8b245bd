#include <CLI/CLI.hpp>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/keys/command.h"
#include "tools/l4/terminal/options.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::commands::keys {
namespace {

constexpr auto kKeysExit = R"(

Exit status:
  0   done
  2   wrong use, or a file that cannot be read or written; no list has changed)";

constexpr auto kKeysFooter = R"('l4 keys COMMAND --help' says more about a command.)";

constexpr auto kKeysInitFooter = R"(Makes aggregator.key, an empty allow-list and the folder nodes/.

Example:
  l4 keys init --dir /etc/l4/keys)";

constexpr auto kKeysAddFooter =
    R"(Each node gets a file nodes/NODE.key, to be brought to that node as its key, and a line in
the allow list, which a running aggregator reads by itself. All nodes are added or none.
The name is the node's name in every report. A fleet's key may be used under any name; keep
it for DaemonSets, where nodes come and go.

Examples:
  l4 keys add node-001 node-002
  l4 keys add --from nodes.txt        one name a line
  l4 keys add --fleet)";

constexpr auto kKeysListFooter =
    R"(A row is the name, the public key, and whether its key file is still here.)";

constexpr auto kKeysRevokeFooter =
    R"(The aggregator refuses what comes with such a key from the next message on.)";

constexpr auto kKeysTokenFooter =
    R"(Prints a new token, which is not kept, and adds a row with its hash to the file tokens, which
aggregator.toml names as tokens in [http]. Whoever has the token asks with
'Authorization: Bearer TOKEN', or L4_TOKEN for l4. To revoke it take its row out of the file.

Examples:
  l4 keys token grafana
  l4 keys token ops --role operate > ops.token)";

}  // namespace

void add_keys(CLI::App& app, KeysOptions& options) {
  auto* keys = app.add_subcommand("keys", "who may connect to the aggregator");
  keys->footer(kKeysFooter);
  const auto command_of = [&](const char* name, const char* what, const char* footer,
                              KeysOptions::Action action) {
    auto* command = keys->add_subcommand(name, what);
    command->footer(std::string(footer) + kKeysExit);
    command->callback([&options, action] { options.action = action; });
    command->add_option("--dir", options.folder, "folder of the keys (default: /etc/l4/keys)")
        ->type_name("DIR");
    terminal::add_format(command, options.format);
    return command;
  };
  const auto add_names = [&](CLI::App* command) {
    command->add_option("NODE", options.names, "names of nodes")->type_name("");
    command->add_option("--from", options.from, "a file of names, one a line; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command->add_flag("--fleet", options.fleet, "the key that a fleet shares");
  };
  using enum KeysOptions::Action;
  command_of("init", "make the aggregator's key and an empty allow list", kKeysInitFooter, init);
  auto* add_command = command_of("add", "make keys for nodes and allow them", kKeysAddFooter, add);
  add_names(add_command);
  add_command->add_flag("--replace", options.replace, "give nodes that have a key a new one");
  command_of("list", "who is allowed", kKeysListFooter, list);
  add_names(command_of("revoke", "allow nodes no longer", kKeysRevokeFooter, revoke));
  auto* token_command = command_of("token", "make a token for HTTP", kKeysTokenFooter, token);
  token_command->add_option("NAME", options.names, "who is to use it")->type_name("")->expected(1);
  token_command->add_option("--role", options.role, "what it may do: read (default) or operate")
      ->type_name("ROLE")
      ->check(terminal::one_of({"read", "operate"}));
}

Result<void> check(const KeysOptions& options) {
  using enum KeysOptions::Action;
  const bool names_wanted = options.action == add || options.action == revoke;
  if (names_wanted && options.names.empty() && options.from.empty() && !options.fleet)
    return std::unexpected(Error{"", "say which: a NODE, --from FILE, or --fleet"});
  if (options.action == token && options.names.empty())
    return std::unexpected(Error{"", "say for whom: a NAME"});
  return {};
}

}  // namespace l4::commands::keys
