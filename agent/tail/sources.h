// The wanted paths: folders, files and patterns, less excluded ones.
//
// A pattern that matches a folder also asks for all that is below the folder. Pure functions over
// names, without the disk. Paths are absolute and normal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::tail {

/// by_kind: wanted if the content is a log.
enum class Wanted : std::uint8_t { no, by_kind, by_name };

class Sources {
 public:
  static Result<Sources> compile(const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& excludes);

  /// Folders or files to begin with: each pattern up to its first wildcard.
  std::vector<std::string> roots() const;
  /// Whether the log `folder`/`base` is wanted, under its own name or the `name` of its file.
  Wanted wanted(std::string_view folder, std::string_view base, std::string_view name) const;
  /// True if something in or below the folder may be wanted.
  bool enters(std::string_view folder) const;
  /// The longest root that a path lies below; empty if there is none.
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
