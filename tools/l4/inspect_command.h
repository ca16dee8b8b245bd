// `l4 inspect`: how a folder is read: sources, ranks, formats, iteration markers, share of times.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace l4::cli {

struct InspectOptions {
  std::vector<std::filesystem::path> paths;
  std::string layout;
};

int run_inspect(const InspectOptions& options);

}  // namespace l4::cli
