#include "tools/l4/commands/keys/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "aggregator/http/job_limit.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "common/wire/port.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/keyring/keyring.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/table.h"

namespace l4::commands::keys {
namespace {

Result<std::vector<std::string>> all_names(const KeysOptions& options) {
  std::vector<std::string> names = options.names;
  for (const auto& file : options.from) {
    const auto more = keyring::read_names(file);
    if (!more) return std::unexpected(more.error());
    names.insert(names.end(), more->begin(), more->end());
  }
  if (options.fleet) names.emplace_back(wire::kFleetKeyName);
  return names;
}

/// The result: `text` for people, `json` for programs.
struct Done {
  std::string text;
  serve::JsonWriter json;
};

Result<void> list_keys(const keyring::Keyring& keyring, Done& done) {
  const auto list = keyring.list();
  if (!list) return std::unexpected(list.error());
  done.json.key("keys").open('[');
  for (const auto& entry : list->entries()) {
    std::error_code ignored;
    const std::string file = keyring.node_key(entry.name).string();
    const bool here = std::filesystem::exists(file, ignored);
    done.text +=
        fmt::format("{}\t{}\t{}\n", entry.name, entry.public_key, here ? file : std::string("-"));
    done.json.open('{').member("name", entry.name).member("public_key", entry.public_key);
    done.json.member("key_file", here ? std::optional(file) : std::nullopt).close('}');
  }
  done.json.close(']');
  return {};
}

/// Where a file of the new keys belongs, and to whom.
struct Place {
  std::string file, node, as;  ///< node: empty for the aggregator's host
  const char* owner;
};

constexpr auto kMode = "0600", kAgentKey = "/etc/l4/agent.key";

std::string shown_node(const std::string& name) {
  return name == wire::kFleetKeyName ? "every node" : name;
}

std::vector<Place> places_of(const keyring::Keyring& keyring,
                             const std::vector<std::string>& names) {
  std::vector<Place> places;
  for (const auto& file : {keyring.aggregator_key(), keyring.allow_list()})
    places.push_back({file.string(), "", file.string(), "l4-aggregator"});
  for (const std::string& name : names)
    places.push_back({keyring.node_key(name).string(), name, kAgentKey, "l4-agent"});
  return places;
}

/// Commands that bring the files to their places and write the settings of all programs.
std::vector<std::string> next_commands(const keyring::Keyring& keyring,
                                       const std::vector<std::string>& names) {
  const std::string folder = keyring.folder().string();
  std::vector<std::string> next{
      fmt::format("chown -R l4-aggregator: {}", folder),
      fmt::format("l4 setup aggregator --keys {}", folder),
      "systemctl enable --now l4-aggregator",
  };
  for (const std::string& name : names) {
    const bool fleet = name == wire::kFleetKeyName;
    const std::string node = fleet ? "NODE" : name;
    next.push_back(
        fmt::format("scp -p {} root@{}:{}", keyring.node_key(name).string(), node, kAgentKey));
    next.push_back(fmt::format("ssh root@{} chown l4-agent: {}", node, kAgentKey));
    next.push_back(fmt::format("ssh -t root@{} l4 setup agent --key {}", node, kAgentKey));
  }
  return next;
}

std::string text_of(const std::vector<Place>& places, const keyring::Keyring& keyring,
                    const std::vector<std::string>& names) {
  constexpr std::size_t kNodesShown = 8;
  const std::size_t shown = std::min(names.size(), kNodesShown);
  const std::size_t width = terminal::width_of_output();
  serve::Page page({.color = terminal::is_color_wanted(), .width = width});
  page.title({{fmt::format("made the keys of an aggregator and {} in {}",
                           serve::counted(names.size(), "node"), keyring.folder().string())}});
  page.gap();
  std::vector<terminal::Row> rows;
  for (std::size_t i = 0; i < places.size() - names.size() + shown; ++i) {
    const Place& place = places[i];
    const auto file = std::filesystem::path(place.file).lexically_relative(keyring.folder());
    rows.push_back({{file.string()},
                    {place.node.empty() ? "this host" : shown_node(place.node)},
                    {place.node.empty() ? "stays here" : place.as},
                    {place.owner},
                    {kMode}});
  }
  terminal::append_table(
      page, {{"file", false, true}, {"goes to", false, true}, {"as"}, {"owner"}, {"mode"}},
      std::move(rows), width);
  if (shown < names.size())
    page.title({{fmt::format("and {} more, likewise", serve::grouped(names.size() - shown))}});
  std::string text = page.release() + "\nnext, here and then for each node:\n";
  for (const std::string& command : next_commands(keyring, {names.begin(), names.begin() + 1}))
    text += "  " + command + '\n';
  return text;
}

Result<void> init_keys(const KeysOptions& options, const keyring::Keyring& keyring, Done& done) {
  const auto names = all_names(options);
  if (!names) return std::unexpected(names.error());
  if (auto made = keyring.init(*names); !made) return made;
  const std::vector<Place> places = places_of(keyring, *names);
  std::vector<std::string> files;
  files.reserve(places.size());
  for (const Place& place : places) files.push_back(place.file);
  done.json.member("made", files);
  if (names->empty()) {
    for (const std::string& file : files) done.text += fmt::format("made {}\n", file);
    return {};
  }
  done.text = text_of(places, keyring, *names);
  done.json.key("places").open('[');
  for (const Place& place : places) {
    done.json.open('{').member("file", place.file);
    done.json.member("node", place.node.empty() ? std::nullopt : std::optional(place.node));
    done.json.member("as", place.as).member("owner", place.owner).member("mode", kMode).close('}');
  }
  done.json.close(']').member("next", next_commands(keyring, *names));
  return {};
}

Result<void> make_token(const KeysOptions& options, const keyring::Keyring& keyring, Done& done) {
  http::JobLimit limit;
  if (!options.jobs.empty()) {
    auto read = http::JobLimit::parse(fmt::format("{}", fmt::join(options.jobs, ",")));
    if (!read) return std::unexpected(Error{"--jobs", read.error().reason});
    limit = std::move(*read);
  }
  const auto made = keyring.add_token(options.names[0], options.role, limit);
  if (!made) return std::unexpected(made.error());
  done.text = *made + '\n';
  done.json.member("name", options.names[0]).member("role", options.role).member("token", *made);
  if (limit.is_limited()) done.json.member("jobs", limit.patterns());
  return {};
}

Result<void> add_or_revoke(const KeysOptions& options, const keyring::Keyring& keyring,
                           Done& done) {
  const auto names = all_names(options);
  if (!names) return std::unexpected(names.error());
  const bool adds = options.action == KeysOptions::Action::add;
  if (auto changed = adds ? keyring.add(*names, options.replace) : keyring.revoke(*names); !changed)
    return changed;
  const char* word = adds ? "added" : "revoked";
  done.text = fmt::format("{} {} {}\n", word, names->size(), names->size() == 1 ? "key" : "keys");
  done.json.member(word, *names);
  return {};
}

Result<void> run(const KeysOptions& options, const keyring::Keyring& keyring, Done& done) {
  using enum KeysOptions::Action;
  if (options.action == list) return list_keys(keyring, done);
  if (options.action == init) return init_keys(options, keyring, done);
  if (options.action == token) return make_token(options, keyring, done);
  return add_or_revoke(options, keyring, done);
}

/// Where the answer could not be written.
std::string changed_all_the_same(const KeysOptions& options) {
  if (options.action == KeysOptions::Action::token)
    return "a token was made that nobody has read; take its row out of the file tokens";
  return fmt::format("has changed all the same; 'l4 keys list --dir {}' shows what is there",
                     options.folder.string());
}

}  // namespace

int run_keys(const KeysOptions& options) {
  constexpr auto kProgram = "l4 keys";
  Done done;
  done.json.open('{').member("schema", "l4.keys/1");
  if (const auto ran = run(options, keyring::Keyring(options.folder), done); !ran)
    return terminal::fail(ran.error(), terminal::kWrongUse, kProgram);
  std::string text = std::move(done.text);
  if (options.format == "json") {
    auto tidy = ask::tidied_json(done.json.close('}').release());
    if (!tidy) return terminal::fail(tidy.error(), terminal::kWrongUse, kProgram);
    text = std::move(*tidy);
  }
  const int written = terminal::write_text(text, {}, kProgram);
  if (written != terminal::kDone && options.action != KeysOptions::Action::list)
    terminal::fail({options.folder.string(), changed_all_the_same(options)}, written, kProgram);
  return written;
}

}  // namespace l4::commands::keys
