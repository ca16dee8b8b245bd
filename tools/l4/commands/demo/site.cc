#include "tools/l4/commands/demo/site.h"

#include <fmt/format.h>

#include <utility>

#include "aggregator/serve/json_text.h"
#include "common/wire/greeting.h"
#include "tools/l4/keyring/keyring.h"

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

constexpr auto kTokenName = "demo", kTokenRole = "operate";

/// A TOML string; one of JSON is one of TOML, too.
std::string quoted(const std::string& text) {
  std::string out;
  serve::append_json_text(out, text);
  return out;
}

/// A pattern that matches this path alone.
std::string pattern_of(const fs::path& path) {
  std::string pattern;
  for (const char c : path.string()) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

std::optional<Addresses> addresses_in(std::string_view log) {
  constexpr std::string_view kWire = "listens for agents at ", kHttp = ", for questions at ";
  const std::size_t at = log.find(kWire);
  if (at == std::string_view::npos) return std::nullopt;
  log.remove_prefix(at + kWire.size());
  const std::size_t end = log.find('\n');
  const std::size_t between = log.find(kHttp);
  if (end == std::string_view::npos || between > end) return std::nullopt;
  return Addresses{std::string(log.substr(0, between)),
                   std::string(log.substr(between + kHttp.size(), end - between - kHttp.size()))};
}

Site::Site(fs::path folder, std::string job, std::vector<Watched> watched)
    : folder_(std::move(folder)), job_(std::move(job)), watched_(std::move(watched)) {}

std::string Site::name_of(std::size_t agent) const {
  const std::string& node = watched_[agent].node;
  return wire::is_node_name(node) ? node : fmt::format("agent-{}", agent);
}

fs::path Site::agent_settings(std::size_t agent) const {
  return folder_ / fmt::format("agent-{}.toml", agent);
}

fs::path Site::agent_log(std::size_t agent) const {
  return folder_ / fmt::format("agent-{}.log", agent);
}

Result<Site> Site::make(fs::path folder, std::string job, std::vector<Watched> watched) {
  Site site(std::move(folder), std::move(job), std::move(watched));
  const keyring::Keyring keys(site.folder_ / "keys");
  std::vector<std::string> names;
  names.reserve(site.watched_.size());
  for (std::size_t i = 0; i < site.watched_.size(); ++i) names.push_back(site.name_of(i));
  if (auto made = keys.init(names); !made) return std::unexpected(made.error());
  const auto token = keys.add_token(kTokenName, kTokenRole);
  if (!token) return std::unexpected(token.error());
  site.token_ = *token;
  if (auto wrote = keyring::write_private(site.token_file(), *token + '\n', false); !wrote)
    return std::unexpected(wrote.error());
  auto wrote = keyring::write_private(site.aggregator_settings(), R"([wire]
listen = "tcp://127.0.0.1:0"
key = "keys/aggregator.key"
allow_list = "keys/allow-list"
[http]
port = 0
tokens = "keys/tokens"
[store]
folder = "aggregator"
[alerts]
source = "l4 demo"
)",
                                      false);
  if (!wrote) return std::unexpected(wrote.error());
  return site;
}

Result<void> Site::link(const Addresses& addresses) const {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const std::string text = fmt::format(
        R"([link]
aggregator = {}
key = "keys/nodes/{}.key"
[who]
job = {}
node = {}
[logs]
sources = [{}]
[state]
folder = "agent-{}"
[limits]
cpu_percent = 0
[host]
processes = false
kernel_log = false
)",
        quoted(addresses.wire), name_of(i), quoted(job_), quoted(watched_[i].node),
        quoted(pattern_of(watched_[i].logs)), i);
    if (auto wrote = keyring::write_private(agent_settings(i), text, false); !wrote) return wrote;
  }
  return keyring::write_private(
      client_settings(),
      fmt::format("[client]\naddress = {}\ntoken_file = \"token\"\n", quoted(addresses.http)),
      false);
}

}  // namespace l4::commands::demo
