#include "tools/l4/commands/keys/command.h"

#include <fmt/format.h>

#include <optional>

#include "aggregator/serve/json_text.h"
#include "common/wire/port.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/keyring/keyring.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

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

Result<void> init_keys(const keyring::Keyring& keyring, Done& done) {
  if (auto made = keyring.init(); !made) return made;
  const std::vector<std::string> files{keyring.aggregator_key().string(),
                                       keyring.allow_list().string()};
  for (const std::string& file : files) done.text += fmt::format("made {}\n", file);
  done.json.member("made", files);
  return {};
}

Result<void> make_token(const KeysOptions& options, const keyring::Keyring& keyring, Done& done) {
  const auto made = keyring.add_token(options.names[0], options.role);
  if (!made) return std::unexpected(made.error());
  done.text = *made + '\n';
  done.json.member("name", options.names[0]).member("role", options.role).member("token", *made);
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
  if (options.action == init) return init_keys(keyring, done);
  if (options.action == token) return make_token(options, keyring, done);
  return add_or_revoke(options, keyring, done);
}

}  // namespace

int run_keys(const KeysOptions& options) {
  constexpr auto kProgram = "l4 keys";
  Done done;
  done.json.open('{').member("schema", "l4.keys/1");
  if (const auto ran = run(options, keyring::Keyring(options.folder), done); !ran)
    return terminal::fail(ran.error(), terminal::kWrongUse, kProgram);
  if (options.format != "json") return terminal::write_text(done.text, {}, kProgram);
  const auto tidy = ask::tidied_json(done.json.close('}').release());
  return tidy ? terminal::write_text(*tidy, {}, kProgram)
              : terminal::fail(tidy.error(), terminal::kWrongUse, kProgram);
}

}  // namespace l4::commands::keys
