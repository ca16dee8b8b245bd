// `l4 check-config FILE...`: whether l4-agent, l4-aggregator and l4 could start with these.
//
// Flow: file -> which program's it is, by its tables -> that program's own reader, which also looks
// at the keys, rule packs, tokens and fault library that the file names. Nothing is connected to.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace l4::cli {

struct CheckConfigOptions {
  std::vector<std::filesystem::path> files;
  std::string as;  ///< agent, aggregator or diagnose; empty: by the tables of each
};

enum class ConfigKind { agent, aggregator, diagnose, client };

/// By the name of a table that only one program has; nothing where there is none, or of several.
std::optional<ConfigKind> kind_of_config(const std::filesystem::path& file);

/// Says a line for each file on standard output. Exit status: 0 all can be used; 2 one cannot.
int run_check_config(const CheckConfigOptions& options);

}  // namespace l4::cli
