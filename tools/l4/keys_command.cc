#include "tools/l4/keys_command.h"

#include <fmt/format.h>

#include <iostream>

#include "common/wire/port.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/keyring.h"
#include "tools/l4/terminal.h"

namespace l4::cli {
namespace {

Result<std::vector<std::string>> all_names(const KeysOptions& options) {
  std::vector<std::string> names = options.names;
  for (const auto& file : options.from) {
    const auto more = read_names(file);
    if (!more) return std::unexpected(more.error());
    names.insert(names.end(), more->begin(), more->end());
  }
  if (options.fleet) names.emplace_back(wire::kFleetKeyName);
  return names;
}

Result<void> print(const Keyring& keyring) {
  const auto list = keyring.list();
  if (!list) return std::unexpected(list.error());
  std::error_code ignored;
  for (const auto& entry : list->entries()) {
    const bool here = std::filesystem::exists(keyring.node_key(entry.name), ignored);
    std::cout << fmt::format("{}\t{}\t{}\n", entry.name, entry.public_key,
                             here ? keyring.node_key(entry.name).string() : "-");
  }
  return {};
}

Result<void> run(const KeysOptions& options, const Keyring& keyring) {
  using enum KeysOptions::Action;
  if (options.action == list) return print(keyring);
  if (options.action == init) {
    if (auto made = keyring.init(); !made) return made;
    std::cout << fmt::format("made {}\nmade {}\n", keyring.aggregator_key().string(),
                             keyring.allow_list().string());
    return {};
  }
  if (options.action == token) {
    const auto made = keyring.add_token(options.names[0], options.role);
    if (!made) return std::unexpected(made.error());
    std::cout << *made << '\n';
    return {};
  }
  const auto names = all_names(options);
  if (!names) return std::unexpected(names.error());
  const bool adds = options.action == add;
  if (auto done = adds ? keyring.add(*names, options.replace) : keyring.revoke(*names); !done)
    return done;
  std::cout << fmt::format("{} {} {}\n", adds ? "added" : "revoked", names->size(),
                           names->size() == 1 ? "key" : "keys");
  return {};
}

}  // namespace

int run_keys(const KeysOptions& options) {
  const auto done = run(options, Keyring(options.folder));
  return done ? kDone : fail(done.error(), kWrongUse, "l4 keys");
}

}  // namespace l4::cli
