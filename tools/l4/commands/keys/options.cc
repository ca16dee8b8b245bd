#include "tools/l4/commands/keys/command.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands::keys {
namespace {

constexpr auto kKeysExit = R"(

Exit status:
  0   done
  2   wrong use, or a file that cannot be read or written; no list has changed,
      or the message says that it has)";

constexpr auto kKeysFooter = R"('l4 keys COMMAND --help' says more about a command.)";

constexpr auto kKeysInitFooter =
    R"(Makes aggregator.key, the allow-list and the folder nodes/ with a key for each NODE, and says
which file belongs where, and what to do next. Without a NODE the list is empty. All is made
or nothing. Keys that are there are never replaced: 'l4 keys add' makes further ones.

Examples:
  l4 keys init node-001 node-002
  l4 keys init --from nodes.txt       one name a line
  l4 keys init                        nodes are added later)";

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

With --jobs the token shows nothing of other jobs, and nothing of the whole site: agents,
the aggregator itself, sinks of alerts.

Examples:
  l4 keys token grafana
  l4 keys token team-a --jobs 'team-a-*'
  l4 keys token ops --role operate > ops.token)";

template <KeysOptions::Action action>
void add_alike(terminal::Options& to, KeysOptions& options) {
  options.action = action;
  to.value("--dir", options.folder, "DIR", "folder of the keys (default: /etc/l4/keys)");
  to.format(options.format);
}

void add_names(terminal::Options& to, KeysOptions& options) {
  to.value("NODE", options.names, "", "names of nodes");
  to.value("--from", options.from, "FILE", "a file of names, one a line; may be repeated")
      .one_each_time();
  to.flag("--fleet", options.fleet, "the key that a fleet shares");
}

void add_init(terminal::Options& to, KeysOptions& options) {
  add_alike<KeysOptions::Action::init>(to, options);
  add_names(to, options);
}

void add_add(terminal::Options& to, KeysOptions& options) {
  add_alike<KeysOptions::Action::add>(to, options);
  add_names(to, options);
  to.flag("--replace", options.replace, "give nodes that have a key a new one");
}

void add_revoke(terminal::Options& to, KeysOptions& options) {
  add_alike<KeysOptions::Action::revoke>(to, options);
  add_names(to, options);
}

void add_token(terminal::Options& to, KeysOptions& options) {
  add_alike<KeysOptions::Action::token>(to, options);
  to.value("NAME", options.names, "", "who is to use it").only_one();
  to.value("--role", options.role, "ROLE", "what it may do: read (default) or operate")
      .one_of({"read", "operate"});
  to.value("--jobs", options.jobs, "PATTERN",
           "see only jobs of this name, * and ? allowed; may be repeated (default: all)")
      .one_each_time();
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

terminal::Command row(const char* name, const char* about, const char* footer,
                      void (*add)(terminal::Options&, KeysOptions&)) {
  return terminal::command(name, about, std::string(footer) + kKeysExit, add, run_keys, check);
}

}  // namespace

terminal::Command keys_command() {
  using enum KeysOptions::Action;
  return terminal::command_group(
      "keys", "who may connect to the aggregator", kKeysFooter,
      {row("init", "make all keys of a site: the aggregator's and each node's", kKeysInitFooter,
           add_init),
       row("add", "make keys for nodes and allow them", kKeysAddFooter, add_add),
       row("list", "who is allowed", kKeysListFooter, add_alike<list>),
       row("revoke", "allow nodes no longer", kKeysRevokeFooter, add_revoke),
       row("token", "make a token for HTTP", kKeysTokenFooter, add_token)});
}

}  // namespace l4::commands::keys
