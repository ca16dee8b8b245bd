// Which paths are wanted: folders, files and patterns, less what is excluded.
//
// A folder that a pattern matches is one that was named: what stands below it is wanted, too.
// Pure functions over names; the disk is not looked at. Paths are absolute and normal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::tail {

enum class Wanted : std::uint8_t { no, by_kind, by_name };  ///< by_kind: if it looks like a log

class Sources {
 public:
  static Result<Sources> compile(const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& excludes);

  /// Folders, or files, that must be looked for: a pattern up to its first wildcard.
  std::vector<std::string> roots() const;
  /// The log `folder`/`base`, whose file may be called `name`.
  Wanted wanted(std::string_view folder, std::string_view base, std::string_view name) const;
  /// True if something in or below the folder may be wanted.
  bool enters(std::string_view folder) const;
  /// The folder that a path was found for; empty if for none.
  std::string root_of(std::string_view path) const;

 private:
  struct Pattern {
    std::vector<std::string> parts;
    std::size_t fixed = 0;  // leading parts without wildcard
    bool plain() const { return fixed == parts.size(); }
  };
  static Pattern parse(const std::string& pattern);
  bool excluded(const std::vector<std::string>& path) const;

  std::vector<Pattern> patterns_, excludes_;
};

/// Absolute, without `.`, `..`, doubled and trailing slashes; relative ones from the root.
std::string normal_path(std::string_view path);

}  // namespace l4::tail
