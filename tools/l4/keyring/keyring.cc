#include "tools/l4/keyring/keyring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "aggregator/http/tokens.h"
#include "common/base/hex.h"
#include "common/wire/control.h"
#include "common/wire/port.h"
#include "common/wire/zmq/curve_key.h"
#include "common/wire/zmq/key_file.h"

namespace l4::keyring {
namespace {

namespace fs = std::filesystem;

constexpr auto kListHead =
    "# Who may connect to the aggregator: a name and its public key. Written by 'l4 keys'.\n";

constexpr auto kTokensHead =
    "# Who may ask over HTTP: role (read or operate), name, SHA-256 of the token, and patterns of "
    "jobs where it is limited to these. Written by 'l4 keys token'.\n";

Error failed_call(const fs::path& file, int reason) {
  return {file.string(), std::generic_category().message(reason)};
}

/// Holds the folder for one command at a time.
class Lock {
 public:
  explicit Lock(const fs::path& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream whole;
  whole << stream.rdbuf();
  return std::move(whole).str();
}

/// What a command writes: undone at the end unless it is kept.
class Changes {
 public:
  Changes() = default;
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;
  ~Changes() {
    std::error_code ignored;  // a folder that holds something else by now stays
    for (auto one = done_.rbegin(); one != done_.rend(); ++one)
      if (one->before)
        static_cast<void>(write_private(one->path, *one->before, false));
      else
        fs::remove(one->path, ignored);
  }

  /// Makes the folder, for the owner alone, and those above it.
  Result<void> folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> missing;
    for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path())
      missing.push_back(at);
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
      if (fs::create_directory(*at, error)) done_.push_back({*at, {}});
      if (error) return std::unexpected(Error{at->string(), error.message()});
    }
    fs::permissions(folder, fs::perms::owner_all, error);
    if (error) return std::unexpected(Error{folder.string(), error.message()});
    return {};
  }
  Result<void> file(const fs::path& file, const std::string& text, bool durable) {
    std::error_code ignored;
    const bool there = fs::exists(file, ignored);
    done_.push_back({file, there ? std::optional(text_of(file)) : std::nullopt});
    return write_private(file, text, durable);
  }
  void keep() { done_.clear(); }

 private:
  struct Change {
    fs::path path;
    std::optional<std::string> before;  ///< none: it was not there
  };
  std::vector<Change> done_;
};

std::string text_of(const std::vector<wire::AllowList::Entry>& entries) {
  std::string text = kListHead;
  for (const auto& entry : entries) text += entry.name + ' ' + entry.public_key + '\n';
  return text;
}

/// The first name that is invalid or repeated.
Result<void> check_names(const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (name != wire::kFleetKeyName && !wire::is_node_name(name))
      return std::unexpected(
          Error{name, "not the name of a node: letters, digits and ._:- are allowed"});
    if (!seen.insert(name).second) return std::unexpected(Error{name, "is named twice"});
  }
  return {};
}

}  // namespace

fs::path Keyring::node_key(const std::string& name) const {
  return folder_ / "nodes" / ((name == wire::kFleetKeyName ? "fleet" : name) + ".key");
}

Result<wire::AllowList> Keyring::list() const {
  return wire::AllowList::load(allow_list());
}

Result<void> Keyring::init(const std::vector<std::string>& names) const {
  if (auto checked = check_names(names); !checked) return checked;
  std::error_code error;
  if (fs::exists(aggregator_key(), error))
    return std::unexpected(
        Error{aggregator_key().string(),
              "is there already; all agents know it, so it is not replaced. 'l4 keys add NODE' "
              "makes keys for further nodes"});
  Changes made;
  if (auto done = made.folder(folder_); !done) return done;
  const Lock lock(folder_);
  if (!lock) return std::unexpected(failed_call(folder_, errno));
  std::vector<wire::AllowList::Entry> entries;
  if (fs::exists(allow_list(), error)) {
    const auto current = list();
    if (!current) return std::unexpected(current.error());
    entries = current->entries();
  }
  if (!names.empty() && !entries.empty())
    return std::unexpected(
        Error{allow_list().string(),
              "names nodes, but the aggregator.key that their keys belong to is gone. Bring it "
              "back, or name another folder (--dir)"});
  if (auto done = made.folder(folder_ / "nodes"); !done) return done;
  const auto server = wire::make_key_pair();
  if (!server) return std::unexpected(server.error());
  for (const std::string& name : names) {
    const auto keys = wire::make_key_pair();
    if (!keys) return std::unexpected(keys.error());
    const wire::NodeKey key{name, keys->public_key, keys->secret_key, server->public_key};
    if (auto done = made.file(node_key(name), wire::to_text(key), false); !done) return done;
    entries.push_back({name, keys->public_key});
  }
  if (!names.empty()) ::sync();  // one call for all files
  if (!names.empty() || !fs::exists(allow_list(), error))
    if (auto done = made.file(allow_list(), text_of(entries), true); !done) return done;
  // The last one: with this file the folder has keys.
  auto done =
      made.file(aggregator_key(),
                wire::to_text(wire::ServerKey{server->public_key, server->secret_key}), true);
  if (done) made.keep();
  return done;
}

Result<void> Keyring::add(const std::vector<std::string>& names, bool replace) const {
  if (auto checked = check_names(names); !checked) return checked;
  const Lock lock(folder_);
  if (!lock)
    return std::unexpected(Error{folder_.string(), "no folder of keys; 'l4 keys init' makes one"});
  const auto server = wire::load_server_key(aggregator_key());
  if (!server) return std::unexpected(server.error());
  const auto current = list();
  if (!current) return std::unexpected(current.error());
  std::vector<wire::AllowList::Entry> entries;
  const std::set<std::string> added(names.begin(), names.end());
  for (const auto& entry : current->entries()) {
    if (!added.contains(entry.name))
      entries.push_back(entry);
    else if (!replace)
      return std::unexpected(
          Error{entry.name,
                "is in the allow list already; --replace gives it a new key. Nothing was added"});
  }
  std::error_code error;
  fs::create_directories(folder_ / "nodes", error);
  // The files are written first, so that each node in the list has a file.
  for (const std::string& name : names) {
    const auto keys = wire::make_key_pair();
    if (!keys) return std::unexpected(keys.error());
    const wire::NodeKey key{name, keys->public_key, keys->secret_key, server->public_key};
    if (auto wrote = write_private(node_key(name), wire::to_text(key), false); !wrote) return wrote;
    entries.push_back({name, keys->public_key});
  }
  ::sync();  // one call for all files
  return write_private(allow_list(), text_of(entries), true);
}

Result<void> Keyring::revoke(const std::vector<std::string>& names) const {
  if (auto checked = check_names(names); !checked) return checked;
  const Lock lock(folder_);
  if (!lock) return std::unexpected(failed_call(folder_, errno));
  const auto current = list();
  if (!current) return std::unexpected(current.error());
  std::set<std::string> missing(names.begin(), names.end());
  const std::set<std::string> revoked = missing;
  std::vector<wire::AllowList::Entry> entries;
  for (const auto& entry : current->entries()) {
    missing.erase(entry.name);
    if (!revoked.contains(entry.name)) entries.push_back(entry);
  }
  if (!missing.empty())
    return std::unexpected(
        Error{*missing.begin(), "is not in the allow list. Nothing was revoked"});
  if (auto wrote = write_private(allow_list(), text_of(entries), true); !wrote) return wrote;
  std::error_code ignored;
  for (const std::string& name : revoked) fs::remove(node_key(name), ignored);
  return {};
}

Result<std::string> Keyring::add_token(const std::string& name, const std::string& role,
                                       const http::JobLimit& jobs) const {
  if (auto checked = check_names({name}); !checked) return std::unexpected(checked.error());
  const Lock lock(folder_);
  if (!lock)
    return std::unexpected(Error{folder_.string(), "no folder of keys; 'l4 keys init' makes one"});
  std::string text = kTokensHead;
  std::error_code ignored;
  if (fs::exists(tokens(), ignored)) {
    // A file that is not a list of tokens is not changed.
    const auto rows = http::read_tokens(tokens());
    if (!rows) return std::unexpected(rows.error());
    for (const http::TokenRow& row : *rows)
      if (row.name == name)
        return std::unexpected(
            Error{name, "has a token already; take its row out of " + tokens().string()});
    text = text_of(tokens());
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  std::array<unsigned char, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return std::unexpected(failed_call("getrandom", errno));
  std::string token = "l4_" + hex_of(secret);
  text += fmt::format("{} {} {}{}{}\n", role, name, http::sha256_of(token),
                      jobs.is_limited() ? " " : "", jobs.text());
  if (auto wrote = write_private(tokens(), text, true); !wrote)
    return std::unexpected(wrote.error());
  return token;
}

Result<void> write_private(const fs::path& file, const std::string& text, bool durable) {
  const fs::path beside = file.string() + ".new";
  const int out = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return std::unexpected(failed_call(beside, errno));
  int reason = ::fchmod(out, 0600) != 0 ? errno : 0;
  for (std::size_t done = 0; reason == 0 && done < text.size();) {
    const ssize_t wrote = ::write(out, text.data() + done, text.size() - done);
    if (wrote >= 0)
      done += static_cast<std::size_t>(wrote);
    else if (errno != EINTR)
      reason = errno;
  }
  if (reason == 0 && durable && ::fsync(out) != 0) reason = errno;
  if (::close(out) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(beside.c_str(), file.c_str()) != 0) reason = errno;
  if (reason == 0) return {};
  ::unlink(beside.c_str());
  return std::unexpected(failed_call(file, reason));
}

Result<std::vector<std::string>> read_names(const fs::path& file) {
  std::error_code ignored;
  std::ifstream stream(file);
  if (!stream || fs::is_directory(file, ignored))
    return std::unexpected(Error{file.string(), "cannot be read"});
  std::vector<std::string> names;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    if (line.empty() || line[0] == '#') continue;
    if (!wire::is_node_name(line))
      return std::unexpected(Error{fmt::format("{}:{}", file.string(), number),
                                   "not the name of a node: letters, digits and ._:- are allowed"});
    names.push_back(line);
  }
  return names;
}

}  // namespace l4::keyring
