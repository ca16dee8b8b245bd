#include "common/config/config_dir.h"

#include <cstdlib>
#include <system_error>

namespace l4 {
namespace {

bool holds_config(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder / "frameworks", ignored);
}

}  // namespace

std::filesystem::path find_config_dir() {
  if (const char* given = std::getenv("L4_CONFIG_DIR")) return given;
  std::error_code failed;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    // Installed as PREFIX/bin/l4 and PREFIX/share/l4; built as BUILD/bin/l4 inside the source tree.
    auto installed = binary.parent_path().parent_path() / "share" / "l4";
    if (holds_config(installed)) return installed;
    for (auto folder = binary.parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
      if (holds_config(folder / "config")) return folder / "config";
  }
  if (holds_config("/etc/l4")) return "/etc/l4";
  return {};
}

}  // namespace l4
