#include "common/config/config_dir.h"

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace l4 {
namespace {

bool holds(const std::filesystem::path& folder, std::string_view entry) {
  std::error_code ignored;
  return std::filesystem::exists(folder / entry, ignored);
}

/// The folder that holds `entry`: `installed` below PREFIX of PREFIX/bin/l4, or `in_tree` in the
/// source tree that holds BUILD/bin/l4. Empty if there is neither.
std::filesystem::path find_shipped(std::string_view installed, std::string_view in_tree,
                                   std::string_view entry) {
  std::error_code failed;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  auto folder = binary.parent_path().parent_path() / installed;
  if (holds(folder, entry)) return folder;
  for (auto above = binary.parent_path(); above.has_relative_path(); above = above.parent_path())
    if (holds(above / in_tree, entry)) return above / in_tree;
  return {};
}

}  // namespace

std::filesystem::path find_config_dir() {
  if (const char* given = std::getenv("L4_CONFIG_DIR")) return given;
  if (auto shipped = find_shipped("share/l4", "config", "frameworks"); !shipped.empty())
    return shipped;
  if (holds("/etc/l4", "frameworks")) return "/etc/l4";
  return {};
}

std::filesystem::path find_samples_dir() {
  return find_shipped("share/l4/samples", "samples", "crash-rank4");
}

std::filesystem::path find_docs_dir() {
  return find_shipped("share/doc/l4/docs", "docs", "ALERTS.md");
}

std::string manual_page(std::string_view name) {
  const std::filesystem::path docs = find_docs_dir();
  return ((docs.empty() ? "docs" : docs) / name).lexically_normal().string();
}

}  // namespace l4
