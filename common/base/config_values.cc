#include "common/base/config_values.h"

namespace l4 {

void read_path(ConfigTable& table, std::string_view key, const std::filesystem::path& file,
               std::filesystem::path& value) {
  const std::string text = table.text_or(key, "");
  if (!text.empty())
    value = (std::filesystem::absolute(file).parent_path() / text).lexically_normal();
  else if (table.has(key))
    table.refuse(key, "must be a path");
}

}  // namespace l4
