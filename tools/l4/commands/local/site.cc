#include "tools/l4/commands/local/site.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "aggregator/http/tokens.h"
#include "common/base/hex.h"
#include "tools/l4/ask/local_site.h"

namespace l4::commands::local {
namespace {

namespace fs = std::filesystem;

constexpr auto kTokenName = "local";

Error failed_call(const fs::path& file, int reason) {
  return {file.string(), std::generic_category().message(reason)};
}

/// A file of mode 0600 with this text, in the place of a former one.
Result<void> write_private(const fs::path& file, const std::string& text) {
  fs::path beside = file;
  beside += ".new";
  ::unlink(beside.c_str());
  const int out =
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (out < 0) return std::unexpected(failed_call(beside, errno));
  const ssize_t wrote = ::write(out, text.data(), text.size());
  int reason = wrote < 0 ? errno : 0;
  if (::close(out) != 0 && reason == 0) reason = errno;
  if (reason == 0 && static_cast<std::size_t>(wrote) != text.size()) reason = ENOSPC;
  if (reason == 0 && ::rename(beside.c_str(), file.c_str()) != 0) reason = errno;
  if (reason == 0) return {};
  ::unlink(beside.c_str());
  return std::unexpected(failed_call(file, reason));
}

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
  if (::chmod(folder.c_str(), 0700) != 0) return std::unexpected(failed_call(folder, errno));
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
  std::array<unsigned char, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return std::unexpected(failed_call("getrandom", errno));
  site.token_ = "l4_" + hex_of(secret);
  const std::string row = fmt::format("operate {} {}\n", kTokenName, http::sha256_of(site.token_));
  if (auto wrote = write_private(site.tokens(), row); !wrote) return std::unexpected(wrote.error());
  if (auto wrote = write_private(folder / "token", site.token_ + '\n'); !wrote)
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
  return write_private(client_file(), fmt::format("# Written by 'l4 local', for other commands.\n"
                                                  "[client]\naddress = \"{}\"\n"
                                                  "token_file = \"token\"\n",
                                                  address));
}

}  // namespace l4::commands::local
