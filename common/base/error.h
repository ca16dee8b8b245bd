// An error with its place: the error half of std::expected across the tree.
//
// `where` names the file (with line and key, if a config), peer or value; `reason` is one sentence
// without a trailing stop. Value type.
#pragma once

#include <expected>
#include <string>

namespace l4 {

struct Error {
  std::string where;
  std::string reason;

  std::string text() const { return where.empty() ? reason : where + ": " + reason; }
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace l4
