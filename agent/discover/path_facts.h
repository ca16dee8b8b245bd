// The facts about a log in its path: node, rank, attempt, kind, job (docs/DESIGN.md, "Paths").
//
// One rule per layout, tried in the order of the table in path_facts.cc; the first that knows the
// path wins. Pure functions over names, without the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::discover {

struct PathFacts {
  std::string node;        ///< empty: the path names none
  bool node_known = true;  ///< false if `node` only tells this source from others
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank;
  std::int32_t attempt = 0;
  wire::SourceKind kind = wire::SourceKind::other;
  std::string job;
};

/// Folders from outermost to innermost, then the file's name without rotation suffixes.
struct PathParts {
  std::vector<std::string> folders;
  std::string stem, extension;
};

PathParts split_path(std::string_view relative);

/// Facts of a path; `parts.folders` may include folders above the one given by the user.
PathFacts facts_of(const PathParts& parts);

/// True if a folder may be named after a node: not `logs`, `job-12`, `attempt_0`, `run_3` ...
bool node_like(std::string_view folder);

/// Last node-like folder, empty if none.
std::string node_of_folders(const std::vector<std::string>& folders);

}  // namespace l4::discover
