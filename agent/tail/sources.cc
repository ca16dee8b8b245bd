#include "agent/tail/sources.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <span>

namespace l4::tail {
namespace {

using Parts = std::vector<std::string>;

Parts split(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty()) parts.emplace_back(part);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

bool wild(const std::string& part) {
  return part.find_first_of("*?[") != std::string::npos;
}

std::string join(std::span<const std::string> parts) {
  std::string path;
  for (const std::string& part : parts) path += "/" + part;
  return path.empty() ? "/" : path;
}

enum class PatternMatch { no, prefix, below, whole };

/// `prefix`: the path ends before the pattern does; `below`: it goes on behind a match.
PatternMatch match(std::span<const std::string> pattern, std::span<const std::string> path) {
  for (;;) {
    if (pattern.empty()) return path.empty() ? PatternMatch::whole : PatternMatch::below;
    if (pattern[0] == "**") {
      PatternMatch best = path.empty() ? PatternMatch::prefix : PatternMatch::no;
      for (std::size_t skip = 0; skip <= path.size() && best != PatternMatch::whole; ++skip)
        best = std::max(best, match(pattern.subspan(1), path.subspan(skip)));
      return best == PatternMatch::no ? PatternMatch::prefix : best;
    }
    if (path.empty()) return PatternMatch::prefix;
    if (::fnmatch(pattern[0].c_str(), path[0].c_str(), 0) != 0) return PatternMatch::no;
    pattern = pattern.subspan(1);
    path = path.subspan(1);
  }
}

bool begins_with(std::span<const std::string> path, std::span<const std::string> start) {
  return path.size() >= start.size() && std::ranges::equal(path.first(start.size()), start);
}

}  // namespace

std::string normal_path(std::string_view path) {
  const std::filesystem::path full = std::filesystem::path("/") / path;
  return join(split(full.lexically_normal().native()));
}

Sources::Pattern Sources::parse(const std::string& text) {
  Pattern pattern;
  pattern.parts = split(normal_path(text));
  while (pattern.fixed < pattern.parts.size() && !wild(pattern.parts[pattern.fixed]))
    ++pattern.fixed;
  return pattern;
}

Result<Sources> Sources::compile(const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& excludes) {
  constexpr std::size_t kAnyMax = 4;
  Sources sources;
  if (patterns.empty()) return std::unexpected(Error{"sources", "none is given"});
  const auto add = [](const std::string& text, std::vector<Pattern>& to) -> Result<void> {
    if (!text.starts_with('/')) return std::unexpected(Error{text, "is no absolute path"});
    to.push_back(parse(text));
    if (std::ranges::count(to.back().parts, "**") > std::ptrdiff_t{kAnyMax})
      return std::unexpected(Error{text, "has more than 4 times **"});
    return {};
  };
  for (const std::string& text : patterns)
    if (auto done = add(text, sources.patterns_); !done) return std::unexpected(done.error());
  for (const std::string& text : excludes)
    if (auto done = add(text, sources.excludes_); !done) return std::unexpected(done.error());
  return sources;
}

std::vector<std::string> Sources::roots() const {
  std::vector<std::string> roots;
  roots.reserve(patterns_.size());
  for (const Pattern& pattern : patterns_)
    roots.push_back(join(std::span(pattern.parts).first(pattern.fixed)));
  std::ranges::sort(roots);
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

bool Sources::excluded(const Parts& path) const {
  return std::ranges::any_of(excludes_, [&](const Pattern& pattern) {
    for (std::size_t n = 1; n <= path.size(); ++n)  // a folder's content is excluded with it
      if (match(pattern.parts, std::span(path).first(n)) == PatternMatch::whole) return true;
    return false;
  });
}

Wanted Sources::wanted(std::string_view folder, std::string_view base,
                       std::string_view name) const {
  Parts path = split(folder);
  path.emplace_back(name);
  if (!excludes_.empty() && excluded(path)) return Wanted::no;
  Parts log = path;
  log.back() = base;
  Wanted best = Wanted::no;
  for (const Pattern& pattern : patterns_) {
    if (pattern.plain() && (log == pattern.parts || path == pattern.parts)) return Wanted::by_name;
    if (match(pattern.parts, log) >= PatternMatch::below ||
        match(pattern.parts, path) >= PatternMatch::below)
      best = Wanted::by_kind;
  }
  return best;
}

bool Sources::enters(std::string_view folder) const {
  const Parts path = split(folder);
  if (!excludes_.empty() && excluded(path)) return false;
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) {
    return match(pattern.parts, path) != PatternMatch::no;
  });
}

std::string Sources::root_of(std::string_view path) const {
  const Parts parts = split(path);
  std::string best;
  for (const Pattern& pattern : patterns_) {
    const auto fixed = std::span(pattern.parts).first(pattern.fixed);
    if (!begins_with(parts, fixed)) continue;
    std::string root = join(fixed);
    if (root == path) root = join(fixed.first(fixed.size() - (fixed.empty() ? 0 : 1)));
    if (root.size() > best.size()) best = root;
  }
  return best;
}

}  // namespace l4::tail
