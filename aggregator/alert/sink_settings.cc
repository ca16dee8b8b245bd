#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "aggregator/alert/sink_kind.h"
#include "common/config/config_values.h"
#include "common/http/url.h"

namespace l4::alert {

void check_url(ConfigTable& table, std::string_view key, std::string_view url) {
  const auto parsed = http::parse_url(url);
  if (!parsed) table.refuse(key, parsed.error().reason);  // without the URL, which may be a secret
}

void read_address(SinkSettings& from, SinkOptions& sink) {
  sink.url = from.table.text("url");
  check_url(from.table, "url", sink.url);
  sink.timeout = from.timeout;
  sink.ca = from.ca;
  if (from.table.has("ca") && sink.url.starts_with("http://"))
    from.table.refuse("ca", "is for https:// alone");
  read_path(from.table, "ca", from.config, sink.ca);
}

std::string read_secret(SinkSettings& from, std::string_view key) {
  constexpr std::size_t kSecretMax = 4'096;
  const std::string name = from.table.text(key);
  const auto path = std::filesystem::absolute(from.config).parent_path() / name;
  std::string text;
  if (std::error_code none; std::filesystem::is_regular_file(path, none)) {
    std::ifstream input(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(input), {});
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (!name.empty() && (text.empty() || text.size() > kSecretMax))
    from.table.refuse(key, fmt::format("{} cannot be read, is empty or too long", path.string()));
  return text;
}

}  // namespace l4::alert
