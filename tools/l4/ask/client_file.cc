#include "tools/l4/ask/client_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "common/config/config_values.h"
#include "common/http/url.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/ask/local_site.h"

namespace l4::ask {

std::string of_environment(const char* name) {
  const char* given = std::getenv(name);
  return given != nullptr ? given : "";
}

Result<std::filesystem::path> find_client_file() {
  if (auto named = of_environment("L4_CLIENT"); !named.empty()) return named;
  if (auto local = running_local_sites(); local.size() == 1) {
    return std::move(local.front());
  } else if (local.size() > 1) {
    std::string reason = fmt::format("{} 'l4 local' run; say which with L4_CLIENT:", local.size());
    for (const auto& file : local) reason += "\n  L4_CLIENT=" + file.string();
    return std::unexpected(Error{"", std::move(reason)});
  }
  std::filesystem::path folder = of_environment("XDG_CONFIG_HOME");
  if (folder.empty())
    if (const auto home = of_environment("HOME"); !home.empty())
      folder = std::filesystem::path(home) / ".config";
  std::error_code ignored;
  if (!folder.empty())
    if (auto own = folder / "l4" / "client.toml"; std::filesystem::exists(own, ignored)) return own;
  const std::filesystem::path shared = "/etc/l4/client.toml";
  return std::filesystem::exists(shared, ignored) ? shared : std::filesystem::path();
}

Result<AskOptions> read_client_file(const std::filesystem::path& file) {
  AskOptions client;
  if (file.empty()) return client;
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  for (ConfigTable& table : root->tables("client")) {
    client.address = table.text_or("address", "");
    if (!client.address.empty())
      if (const auto url = http::parse_url(client.address); !url)
        table.refuse("address", url.error().text());
    read_path(table, "token_file", file, client.token_file);
    read_path(table, "ca", file, client.ca);
  }
  if (auto error = root->finish()) return std::unexpected(std::move(*error));
  return client;
}

}  // namespace l4::ask
