// `l4 setup aggregator`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "aggregator/faults/library.h"
#include "aggregator/http/tokens.h"
#include "aggregator/program.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/settings.h"
#include "common/wire/zmq/allow_list.h"
#include "common/wire/zmq/endpoint.h"
#include "common/wire/zmq/key_file.h"
#include "tools/l4/commands/setup/command.h"
#include "tools/l4/commands/setup/machine.h"
#include "tools/l4/commands/setup/outcome.h"
#include "tools/l4/keyring/keyring.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/questions.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;
using terminal::Mark;
using terminal::Remark;

struct Answers {
  std::string address;
  HostPort agents, http;
  fs::path keys, tokens, state;
};

Result<void> check_address(const std::string& text) {
  if (wire::is_connect_endpoint(text)) return {};
  return std::unexpected(Error{text, "is not tcp://HOST:PORT, such as tcp://head-node:7430"});
}

Result<void> check_folder(const std::string& text) {
  const keyring::Keyring keyring(whole(text));
  std::error_code ignored;
  if (!fs::exists(keyring.aggregator_key(), ignored))
    return std::unexpected(
        Error{keyring.aggregator_key().string(),
              fmt::format("is not there; 'l4 keys init NODE... --dir {}' makes all keys of a site",
                          text)});
  if (const auto key = wire::load_server_key(keyring.aggregator_key()); !key)
    return std::unexpected(key.error());
  if (const auto list = keyring.list(); !list) return std::unexpected(list.error());
  return {};
}

/// The file of tokens that is meant; empty: none.
fs::path tokens_of(const AggregatorOptions& options, const fs::path& keys) {
  if (!options.tokens.empty()) return whole(options.tokens);
  const fs::path of_keys = keyring::Keyring(keys).tokens();
  std::error_code ignored;
  return fs::exists(of_keys, ignored) ? of_keys : fs::path();
}

bool is_address(const std::string& host) {
  return is_loopback(host) || host.find(':') != host.npos ||
         host.find_first_not_of("0123456789.") == host.npos;
}

Result<void> check_http(const std::string& text, const fs::path& tokens, const std::string& keys) {
  const auto found = host_port_of(text);
  if (!found || text.find("://") != text.npos || !is_address(found->host))
    return std::unexpected(Error{
        text, "is not ADDRESS:PORT with an IP address, such as 127.0.0.1:7440 or 0.0.0.0:7440"});
  if (is_loopback(found->host) || !tokens.empty()) return {};
  return std::unexpected(
      Error{text, fmt::format("is no loopback address, so it needs tokens: 'l4 keys token NAME "
                              "--role operate --dir {}' makes one",
                              keys)});
}

Result<Answers> answers_of(const AggregatorOptions& options) {
  if (const auto all = check_answers({{"--address", !options.address.empty()},
                                      {"--keys", !options.keys.empty()},
                                      {"--http", !options.http.empty()}});
      !all)
    return std::unexpected(all.error());
  const auto address = given_or_asked(options.address, "address at which agents reach it",
                                      "tcp://" + host_name() + ":7430", check_address);
  if (!address) return std::unexpected(address.error());
  const auto keys =
      given_or_asked(options.keys.string(), "folder of keys", "/etc/l4/keys", check_folder);
  if (!keys) return std::unexpected(keys.error());
  const fs::path tokens = tokens_of(options, whole(*keys));
  const auto http = given_or_asked(
      options.http, "HTTP address for l4 and Prometheus; other than loopback needs tokens",
      "127.0.0.1:7440", [&](const std::string& text) { return check_http(text, tokens, *keys); });
  if (!http) return std::unexpected(http.error());
  Answers answers{*address, *host_port_of(*address), *host_port_of(*http), whole(*keys),
                  tokens,   whole(options.state)};
  if (answers.http.host == "localhost") answers.http.host = "127.0.0.1";
  return answers;
}

std::string settings_of(const Answers& answers, const fs::path& file) {
  const keyring::Keyring keyring(answers.keys);
  const bool local = is_loopback(answers.agents.host);
  std::string text = fmt::format(
      R"(# Settings of l4-aggregator, written by 'l4 setup aggregator'. What is not said here
# has its default: the aggregator.toml that was installed shows all. Check a change with
# l4 check-config {}

[wire]
# Agents reach it at {}, which stands in their settings.
listen = "tcp://{}:{}"
key = {}
allow_list = {}

[http]
# Where l4, Prometheus and other programs ask.
address = {}
port = {}
)",
      file.string(), answers.address, local ? "127.0.0.1" : "*", answers.agents.port,
      toml_text(keyring.aggregator_key().string()), toml_text(keyring.allow_list().string()),
      toml_text(answers.http.host), answers.http.port);
  text += answers.tokens.empty()
              ? fmt::format("# tokens = {}   # without: every user of this machine may ask\n",
                            toml_text(keyring.tokens().string()))
              : fmt::format("tokens = {}\n", toml_text(answers.tokens.string()));
  text += fmt::format(R"(
[store]
folder = {}

# Where alerts go; without a sink they stand in the log alone. docs/ALERTS.md has all kinds.
# [[alerts.sink]]
# name = "alertmanager"
# kind = "alertmanager"
# url = "http://127.0.0.1:9093"
)",
                      toml_text(answers.state.string()));
  return text;
}

/// Whether this file may be read by the program, once it is there.
std::optional<Remark> check_secret(const Unit& unit, const fs::path& file, const std::string& user,
                                   const fs::path& folder) {
  if (auto hidden = unit.hidden(file); !hidden.empty())
    return Remark{Mark::look, "keys", std::move(hidden), "move the keys to /etc/l4/keys"};
  if (is_readable(file)) return std::nullopt;
  return Remark{Mark::look, "keys", fmt::format("{} cannot be read by {}", file.string(), user),
                fmt::format("chown -R {}: {}", user, folder.string())};
}

Remark check_keys(const Answers& answers, const Unit& unit, const std::string& user) {
  const keyring::Keyring keyring(answers.keys);
  for (const fs::path& file : {keyring.aggregator_key(), keyring.allow_list(), answers.tokens})
    if (!file.empty())
      if (auto remark = check_secret(unit, file, user, answers.keys)) return *remark;
  const auto list = keyring.list();
  const std::size_t nodes = list ? list->entries().size() : 0;
  if (nodes == 0)
    return {Mark::look, "keys", answers.keys.string() + ": no node may connect yet",
            fmt::format("l4 keys add NODE... --dir {}", answers.keys.string())};
  return {Mark::fine, "keys",
          fmt::format("{}: {} may connect", answers.keys.string(), serve::counted(nodes, "key")),
          ""};
}

Remark check_reach(const Answers& answers) {
  const auto found = addresses_of(answers.agents.host);
  if (!found)
    return {Mark::look, "address", found.error().text(),
            "name this host as the nodes know it, or by its IP address"};
  const auto own = own_addresses();
  const auto is_own = [&](const std::string& address) {
    return is_loopback(address) || std::ranges::find(own, address) != own.end();
  };
  const std::string leads = fmt::format("{} leads to {}", answers.agents.host, found->front());
  if (std::ranges::none_of(*found, is_own))
    return {Mark::look, "address", leads + ", which is no address of this machine",
            "if no gateway passes it on, name another: --address"};
  // Debian leads a host's own name to 127.0.1.1, for itself alone.
  if (std::ranges::all_of(*found, is_loopback) && is_loopback(answers.agents.host))
    return {Mark::note, "address", answers.address + ": only agents on this machine reach it", ""};
  return {Mark::fine, "address", std::ranges::all_of(*found, is_loopback) ? answers.address : leads,
          ""};
}

Remark check_port(const char* about, const std::string& host, std::uint16_t port) {
  const PortUse use = use_of_port(host, port);
  const std::string where = fmt::format("port {}", port);
  if (use.taken && use.who.starts_with("l4-aggregator"))
    return {Mark::look, about, fmt::format("{} is in use by {}", where, use.who),
            "an aggregator runs already; restart it to take over the new settings"};
  if (use.taken)
    return {Mark::look, about, fmt::format("{} is in use by {}", where, use.who),
            "end that, or choose another port"};
  if (!use.reason.empty())
    return {Mark::look, about,
            fmt::format("{}{}: {}", where, host.empty() ? "" : " at " + host, use.reason),
            "choose an address of this machine, and a port beyond 1023"};
  return {Mark::fine, about, where + " is free", ""};
}

Remark check_tokens(const Answers& answers) {
  if (answers.tokens.empty())
    return {Mark::note, "access", "no tokens: every user of this machine may ask", ""};
  const auto rows = http::read_tokens(answers.tokens);
  return {Mark::fine, "access",
          fmt::format("{} in {}", serve::counted(rows ? rows->size() : 0, "token"),
                      answers.tokens.string()),
          ""};
}

Remark check_library() {
  const auto library = l4::faults::Library::load(aggregator::shipped_faults());
  if (!library) return {Mark::look, "faults", library.error().text(), "install the programs again"};
  return {Mark::fine, "faults",
          serve::counted(library->faults().size(), "known fault") + " in " +
              aggregator::shipped_faults().string(),
          ""};
}

Result<void> read_settings_of_aggregator(const fs::path& file) {
  const auto settings = aggregator::load_settings(file);
  return settings ? aggregator::check(*settings) : std::unexpected(settings.error());
}

/// `l4 check`, as it finds this aggregator from here.
std::string check_command(const Answers& answers) {
  std::string command = "l4 check";
  const bool any = answers.http.host == "0.0.0.0" || answers.http.host == "::";
  const std::string host = any ? "127.0.0.1" : answers.http.host;
  constexpr std::uint16_t kUsual = 7440;
  if (host != "127.0.0.1" || answers.http.port != kUsual)
    command +=
        fmt::format(" --address http://{}:{}",
                    host.find(':') != host.npos ? '[' + host + ']' : host, answers.http.port);
  if (!answers.tokens.empty()) command += " --token-file FILE   # with a token of yours";
  return command;
}

void look_around(const Answers& answers, const fs::path& file, Outcome& outcome) {
  const Unit unit = find_unit("l4-aggregator", unit_folders());
  std::vector<Remark>& all = outcome.remarks;
  {
    const AsUser as(unit.is_installed() ? unit.user : "l4-aggregator");
    all.push_back(check_keys(answers, unit, as.name()));
    all.push_back(check_state(unit, answers.state, as.name()));
  }
  all.push_back(check_reach(answers));
  const bool local = is_loopback(answers.agents.host);
  all.push_back(check_port("agents", local ? "127.0.0.1" : "", answers.agents.port));
  all.push_back(check_port("HTTP", answers.http.host, answers.http.port));
  all.push_back(check_tokens(answers));
  all.push_back(check_library());
  outcome.next.push_back(start_command(unit, file));
  outcome.next.push_back(check_command(answers));
}

}  // namespace

int run_setup_aggregator(const AggregatorOptions& options) {
  return run_steps<AggregatorOptions, Answers>(
      options, "l4 setup aggregator",
      {answers_of, settings_of, look_around, read_settings_of_aggregator});
}

}  // namespace l4::commands::setup
