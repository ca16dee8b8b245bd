#include "tools/l4/commands/local/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "aggregator/http/tokens.h"
#include "tools/l4/ask/local_site.h"
#include "tools/l4/keyring/keyring.h"

namespace l4::commands::local {
namespace {

namespace fs = std::filesystem;

constexpr auto kTokenName = "local";

/// The last name of a path, in letters that any file system and shell takes.
std::string plain_name(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  name.resize(std::min<std::size_t>(name.size(), 40));
  return name.empty() ? "logs" : name;
}

Result<void> make_private_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return std::unexpected(Error{folder.string(), failed.message()});
  fs::permissions(folder, fs::perms::owner_all, failed);
  if (failed) return std::unexpected(Error{folder.string(), failed.message()});
  return {};
}

}  // namespace

Result<fs::path> state_folder_for(const std::vector<std::string>& sources) {
  const fs::path states = ask::local_states();
  if (states.empty())
    return std::unexpected(
        Error{"",
              "neither XDG_STATE_HOME nor HOME is set; say with --state FOLDER where to keep "
              "the state"});
  std::vector<std::string> sorted = sources;
  std::ranges::sort(sorted);
  std::string all;
  for (const std::string& source : sorted) all += source + '\0';
  return states /
         fmt::format("{}-{}", plain_name(sorted.front()), http::sha256_of(all).substr(0, 8));
}

Result<Site> Site::open(const fs::path& folder) {
  if (auto made = make_private_folder(folder); !made) return std::unexpected(made.error());
  auto lock = FolderLock::take(folder, "l4 local " L4_VERSION);
  if (!lock) {
    Error error = lock.error().error;
    if (lock.error().in_use) error.reason += "; it follows the same paths, so ask it: 'l4 jobs'";
    return std::unexpected(std::move(error));
  }
  Site site(folder, std::move(*lock));
  std::error_code ignored;
  fs::remove(site.tokens(), ignored);  // the tokens of former runs
  auto token = keyring::Keyring(folder).add_token(kTokenName, "operate");
  if (!token) return std::unexpected(token.error());
  site.token_ = std::move(*token);
  if (auto wrote = keyring::write_private(folder / "token", site.token_ + '\n', false); !wrote)
    return std::unexpected(wrote.error());
  return site;
}

Site::~Site() {
  if (token_.empty()) return;  // moved from
  std::error_code ignored;
  fs::remove(client_file(), ignored);
  fs::remove(folder_ / "token", ignored);
}

fs::path Site::client_file() const {
  return folder_ / ask::kClientFileName;
}

Result<void> Site::publish(const std::string& address) const {
  return keyring::write_private(client_file(),
                                fmt::format("# Written by 'l4 local', for other commands.\n"
                                            "[client]\naddress = \"{}\"\n"
                                            "token_file = \"token\"\n",
                                            address),
                                false);
}

}  // namespace l4::commands::local
