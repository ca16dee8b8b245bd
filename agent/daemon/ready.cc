#include "agent/daemon/ready.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "common/config/config_values.h"
#include "common/wire/greeting.h"
#include "common/wire/port.h"

namespace l4::daemon {

std::string host_name() {
  if (const char* given = std::getenv("L4_NODE"); given != nullptr && *given != 0) return given;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<Ready> read_config(const std::filesystem::path& file) {
  auto settings = load_settings(file);
  if (!settings) return std::unexpected(settings.error());
  auto key = wire::load_node_key(settings->key);
  if (!key) return std::unexpected(named_error(settings->named, settings->key, key.error()));
  Ready ready{std::move(*settings), std::move(*key), {}};
  const std::string& asked = ready.settings.name;
  ready.name = ready.key.name;
  if (ready.name == wire::kFleetKeyName)
    ready.name = asked.empty() ? host_name() : asked;
  else if (!asked.empty() && asked != ready.name)
    return std::unexpected(Error{file.string(), "link.name: \"" + asked +
                                                    "\", but the key is that of \"" + ready.name +
                                                    "\"; a name is for a shared key"});
  if (!wire::is_node_name(ready.name))
    return std::unexpected(Error{file.string(), "link.name: no name of a node: " + ready.name});
  return ready;
}

}  // namespace l4::daemon
