// `--layout`: a pattern such as `{node}/{*}/rank{rank}.log` that says what a path means.
//
// {rank}, {local_rank} and {attempt} match digits, {node} and {job} match within one folder name,
// {*} anything within one; other characters match themselves. The whole relative path must match.
// Compiled once, then const and thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/path_facts.h"
#include "common/base/error.h"

namespace l4::discover {

class LayoutPattern {
 public:
  static Result<LayoutPattern> compile(std::string_view pattern);
  /// Empty if the path does not match.
  std::optional<PathFacts> match(std::string_view relative) const;

 private:
  enum class Field { literal, node, rank, local_rank, attempt, job, any };
  struct Piece {
    Field field = Field::literal;
    std::string text;
  };
  bool match_from(std::size_t piece, std::string_view rest, PathFacts& facts) const;

  std::vector<Piece> pieces_;
};

}  // namespace l4::discover
