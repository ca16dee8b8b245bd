#include "agent/discover/discover.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/discover/layout_pattern.h"
#include "agent/discover/path_facts.h"
#include "agent/discover/walk.h"

namespace l4::discover {
namespace {

namespace fs = std::filesystem;

/// The name of the folder itself, also for `.`, `x/` and `..`.
std::string folder_name(const fs::path& path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(fs::absolute(path, error), error);
  if (full.filename().empty()) full = full.parent_path();
  return full.filename().string();
}

/// Names of the last folders of a path, outermost first: a part of a known tree may be given.
std::vector<std::string> folders_above(const fs::path& folder) {
  constexpr std::size_t kFoldersMax = 5;
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& part : fs::weakly_canonical(fs::absolute(folder, error), error))
    if (part != "/" && !part.empty()) names.push_back(part.string());
  if (names.size() > kFoldersMax)
    names.erase(names.begin(), names.end() - static_cast<std::ptrdiff_t>(kFoldersMax));
  return names;
}

class Search {
 public:
  Search(const Options& options, bool several) : options_(options), several_(several) {}

  Result<void> prepare() {
    if (options_.layout.empty()) return {};
    auto layout = LayoutPattern::compile(options_.layout);
    if (!layout) return std::unexpected(layout.error());
    layout_ = std::move(*layout);
    return {};
  }

  void path(const fs::path& path);
  Result<Discovery> finish(const std::vector<fs::path>& paths);

 private:
  void add(const Found& found, const std::string& prefix, const std::vector<std::string>& above,
           bool asked_for);
  void fill(LogFile& file, const Found& found, const std::vector<std::string>& above);
  void warn(std::string kind, const std::string& file, std::string reason,
            std::uint64_t bytes = 0) {
    out_.warnings.push_back({std::move(kind), file, std::move(reason), bytes});
  }

  const Options& options_;
  bool several_;
  std::optional<LayoutPattern> layout_;
  Discovery out_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  std::map<std::string, std::size_t> jobs_;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> skipped_;  // files, bytes
  std::size_t missing_ = 0;
};

/// Node, rank and the rest, from the layout, the known names, else the folder, else the file.
void Search::fill(LogFile& file, const Found& found, const std::vector<std::string>& above) {
  PathParts parts = split_path(found.relative);
  const std::vector<std::string> own = parts.folders;
  parts.folders.insert(parts.folders.begin(), above.begin(), above.end());
  std::optional<PathFacts> given;
  if (layout_) given = layout_->match(found.relative);
  const PathFacts facts = given ? *given : facts_of(parts);
  file.kind = facts.kind;
  file.rank = facts.rank;
  file.local_rank = facts.local_rank;
  file.attempt = facts.attempt;
  if (!facts.job.empty()) ++jobs_[facts.job];
  file.node = facts.node;
  const bool from_above = std::find(above.begin(), above.end(), file.node) != above.end() &&
                          std::find(own.begin(), own.end(), file.node) == own.end();
  file.node_known = !file.node.empty() && facts.node_known && !from_above;
  if (!file.node.empty()) return;
  file.node = node_of_folders(own);
  file.node_known = !file.node.empty();
  if (file.node.empty() && !above.empty()) file.node = node_of_folders({above.back()});
  // A file in the folder itself: only what holds ranks is called after the folder.
  const bool of_rank = file.rank || file.local_rank || file.kind == wire::SourceKind::launcher;
  if (file.node.empty() && of_rank && !above.empty()) file.node = above.back();
  if (file.node.empty() || (!of_rank && own.empty())) file.node = parts.stem;
  if (file.node.empty()) file.node = "unknown";
}

void Search::add(const Found& found, const std::string& prefix,
                 const std::vector<std::string>& above, bool asked_for) {
  const std::string name = prefix.empty() ? found.relative : prefix + "/" + found.relative;
  if (!seen_.emplace(found.device, found.inode).second) {
    warn("duplicate", name, "the same file under another name");
    return;
  }
  if (out_.files.size() >= options_.files_max) return;
  if (!asked_for && has_data_extension(fs::path{found.relative}.filename().string())) {
    auto& skipped = skipped_[fs::path{found.relative}.extension().string()];
    ++skipped.first;
    skipped.second += found.bytes;
    return;
  }
  const auto text = is_text(found.path);
  if (!text) {
    warn("unreadable", name, text.error().reason, found.bytes);
    return;
  }
  if (!*text) {
    warn("binary", name, "its first 4 KiB are not text", found.bytes);
    return;
  }
  LogFile file;
  file.path = found.path;
  file.name = name;
  file.bytes = found.bytes;
  file.modified = found.modified;
  fill(file, found, above);
  out_.files.push_back(std::move(file));
}

void Search::path(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    ++missing_;
    warn("missing", path.string(),
         error && error != std::errc::no_such_file_or_directory ? error.message()
                                                                : "does not exist");
    return;
  }
  if (fs::is_directory(status)) {
    const std::string name = folder_name(path);
    const auto above = folders_above(path);
    for (const Found& found : walk(path, options_.files_max, out_.warnings))
      add(found, several_ ? name : "", above, false);
    return;
  }
  const auto found = look_at(path, path.filename().string());
  if (!found) {
    warn("not_a_file", path.string(), "neither a file nor a folder");
    return;
  }
  add(*found, "", folders_above(fs::absolute(path, error).parent_path()), true);
}

Result<Discovery> Search::finish(const std::vector<fs::path>& paths) {
  std::sort(out_.files.begin(), out_.files.end(),
            [](const LogFile& a, const LogFile& b) { return a.name < b.name; });
  for (const auto& [extension, count] : skipped_)
    warn("skipped", "*" + extension,
         std::to_string(count.first) + " file(s) are no logs by their extension", count.second);
  if (out_.files.empty()) {
    const std::string where = paths.empty() ? std::string{} : paths.front().string();
    if (missing_ == paths.size() && !paths.empty())
      return std::unexpected(Error{where, "does not exist"});
    for (const auto& warning : out_.warnings)
      if (warning.kind == "unreadable")
        return std::unexpected(Error{warning.file.empty() ? where : warning.file,
                                     "cannot be read: " + warning.reason});
    return std::unexpected(Error{where, "holds no log file"});
  }
  const auto most = std::max_element(
      jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != jobs_.end()) {
    out_.job = most->first;
  } else {
    out_.job = folder_name(paths.front());
    if (out_.job == "logs" || out_.job == "log")
      out_.job = folder_name(fs::absolute(paths.front()).lexically_normal() / "..");
  }
  auto [first, last] = std::minmax_element(
      out_.files.begin(), out_.files.end(),
      [](const LogFile& a, const LogFile& b) { return *a.modified < *b.modified; });
  out_.mtimes_equal = *last->modified - *first->modified <= Millis{2000};
  return std::move(out_);
}

}  // namespace

Result<Discovery> discover(const std::vector<fs::path>& paths, const Options& options) {
  Search search{options, paths.size() > 1};
  if (auto ready = search.prepare(); !ready) return std::unexpected(ready.error());
  if (paths.empty()) return std::unexpected(Error{"", "no path was given"});
  for (const auto& path : paths) search.path(path);
  return search.finish(paths);
}

}  // namespace l4::discover
