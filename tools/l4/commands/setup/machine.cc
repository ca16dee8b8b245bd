#include "tools/l4/commands/setup/machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>

#include "common/base/descriptor.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;

std::string name_of_user(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (address.sa_family == AF_INET) {
    std::memcpy(&v4, &address, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (address.sa_family == AF_INET6) {
    std::memcpy(&v6, &address, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) return std::unexpected(Error{host, ::gai_strerror(failed)});
  return AddressList(found, &::freeaddrinfo);
}

/// The inodes of the sockets that listen at the port.
std::set<std::string> listeners_at(std::uint16_t port) {
  std::set<std::string> inodes;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream rows(table);
    std::string row;
    std::getline(rows, row);  // the heads
    while (std::getline(rows, row)) {
      std::istringstream words(row);
      std::string number, local, remote, state, skipped, inode;
      words >> number >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) words >> skipped;
      words >> inode;
      const std::size_t colon = local.rfind(':');
      if (state == "0A" && colon != std::string::npos &&
          local.substr(colon + 1) == fmt::format("{:04X}", port))
        inodes.insert(inode);
    }
  }
  return inodes;
}

bool holds_one_of(const fs::path& process, const std::set<std::string>& links) {
  std::error_code failed;
  for (fs::directory_iterator file(process / "fd", failed);
       !failed && file != fs::directory_iterator(); file.increment(failed)) {
    std::error_code gone;
    if (links.contains(fs::read_symlink(file->path(), gone).string())) return true;
  }
  return false;
}

/// "l4-aggregator (pid 71)"; processes of other users show themselves to root alone.
std::string holder_of(std::uint16_t port) {
  std::set<std::string> links;
  for (const std::string& inode : listeners_at(port)) links.insert("socket:[" + inode + "]");
  std::error_code failed;
  for (fs::directory_iterator process("/proc", failed);
       !failed && process != fs::directory_iterator(); process.increment(failed)) {
    const std::string pid = process->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!holds_one_of(process->path(), links)) continue;
    std::ifstream comm(process->path() / "comm");
    std::string name;
    std::getline(comm, name);
    return fmt::format("{} (pid {})", name, pid);
  }
  return ::geteuid() == 0 ? "another process" : "another process (root sees which)";
}

}  // namespace

AsUser::AsUser(const std::string& name) : name_(name_of_user(::geteuid())) {
  const passwd* entry = name.empty() ? nullptr : ::getpwnam(name.c_str());
  if (entry == nullptr || ::geteuid() != 0 || entry->pw_uid == 0) return;
  const uid_t user = entry->pw_uid;
  const gid_t group = entry->pw_gid;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return;
  group_ = ::getegid();
  groups_ = std::move(groups);
  if (::initgroups(name.c_str(), group) == 0 && ::setegid(group) == 0 && ::seteuid(user) == 0)
    name_ = name;
}

AsUser::~AsUser() {
  if (!groups_) return;
  // Back to root, which may do the rest.
  static_cast<void>(::seteuid(0) == 0 && ::setegid(group_) == 0 &&
                    ::setgroups(groups_->size(), groups_->data()) == 0);
}

bool is_user(const std::string& name) {
  return ::getpwnam(name.c_str()) != nullptr;
}

bool is_readable(const fs::path& file) {
  return ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0;
}

bool is_writable_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path at = folder.lexically_normal();
  while (at.has_relative_path() && !fs::exists(at, ignored)) at = at.parent_path();
  return fs::is_directory(at, ignored) &&
         ::faccessat(AT_FDCWD, at.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

std::optional<HostPort> host_port_of(std::string_view text) {
  constexpr std::string_view kScheme = "tcp://";
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  HostPort found;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), found.port);
  if (wrong != std::errc{} || end != port.data() + port.size() || found.port == 0)
    return std::nullopt;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return std::nullopt;
  found.host = host;
  return found;
}

PortUse use_of_port(const std::string& host, std::uint16_t port) {
  PortUse use;
  const auto addresses = look_up(host, port, AI_PASSIVE);
  if (!addresses) {
    use.reason = addresses.error().text();
    return use;
  }
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    const Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.number() < 0) continue;  // a family that this machine does not speak
    const int yes = 1;
    ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at->ai_family == AF_INET6)
      ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (::bind(socket.number(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::listen(socket.number(), 1) == 0)
      continue;
    if (errno == EADDRINUSE) {
      use.taken = true;
      use.who = holder_of(port);
      return use;
    }
    if (!host.empty() || at->ai_family == AF_INET)
      use.reason = std::generic_category().message(errno);
  }
  return use;
}

Result<std::vector<std::string>> addresses_of(const std::string& host) {
  const auto found = look_up(host, 0, 0);
  if (!found) return std::unexpected(found.error());
  std::vector<std::string> addresses;
  for (const addrinfo* at = found->get(); at != nullptr; at = at->ai_next)
    addresses.push_back(text_of(*at->ai_addr));
  return addresses;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next)
    if (at->ifa_addr != nullptr)
      if (auto text = text_of(*at->ifa_addr); !text.empty()) addresses.push_back(std::move(text));
  ::freeifaddrs(first);
  return addresses;
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace l4::commands::setup
