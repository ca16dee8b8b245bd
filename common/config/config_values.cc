#include "common/config/config_values.h"

namespace l4 {

void read_path(ConfigTable& table, std::string_view key, const std::filesystem::path& file,
               std::filesystem::path& value) {
  const std::string text = table.text_or(key, "");
  if (!text.empty()) {
    value = (std::filesystem::absolute(file).parent_path() / text).lexically_normal();
    table.note_path(key, value);
  } else if (table.has(key)) {
    table.refuse(key, "must be a path");
  }
}

Error named_error(const NamedPaths& named, const std::filesystem::path& path, const Error& error) {
  const auto found = named.find(path);
  return found == named.end() ? error : Error{found->second, error.text()};
}

}  // namespace l4
