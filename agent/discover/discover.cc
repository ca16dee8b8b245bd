#include "agent/discover/discover.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/discover/layout_pattern.h"
#include "agent/discover/path_facts.h"
#include "agent/discover/rotation.h"
#include "agent/discover/walk.h"
#include "common/base/earliest.h"

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

/// Names of the last folders of a path, outermost first, because the user may name a part of a
/// known tree. Leaves out the folders of `hidden` (if not empty).
std::vector<std::string> folders_above(const fs::path& folder, const fs::path& hidden) {
  constexpr std::size_t kFoldersMax = 5;
  std::error_code error;
  fs::path full = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (!hidden.empty()) {
    const fs::path below = full.lexically_relative(fs::weakly_canonical(hidden, error));
    if (!below.empty() && *below.begin() != "..") full = below;
  }
  std::vector<std::string> names;
  for (const auto& part : full)
    if (part != "/" && part != "." && !part.empty()) names.push_back(part.string());
  if (names.size() > kFoldersMax)
    names.erase(names.begin(), names.end() - static_cast<std::ptrdiff_t>(kFoldersMax));
  return names;
}

/// The node: from the facts, else from the folder, else from the file. `own`: folders below the
/// given one.
void place(LogFile& file, const PathFacts& facts, const std::vector<std::string>& own,
           const std::vector<std::string>& above, const std::string& stem) {
  file.kind = facts.kind;
  file.rank = facts.rank;
  file.local_rank = facts.local_rank;
  file.attempt = facts.attempt;
  file.node = facts.node;
  const bool from_above = std::find(above.begin(), above.end(), file.node) != above.end() &&
                          std::find(own.begin(), own.end(), file.node) == own.end();
  file.node_known = !file.node.empty() && facts.node_known && !from_above;
  if (!file.node.empty()) return;
  file.node = node_of_folders(own);
  file.node_known = !file.node.empty();
  if (file.node.empty() && !above.empty()) file.node = node_of_folders({above.back()});
  // A file in the folder itself gets the folder's name only if the folder holds ranks.
  const bool of_rank = file.rank || file.local_rank || file.kind == wire::SourceKind::launcher;
  if (file.node.empty() && of_rank && !above.empty()) file.node = above.back();
  if (file.node.empty() || (!of_rank && own.empty())) file.node = stem;
  if (file.node.empty()) file.node = "unknown";
}

/// The name of the folder, or of the folder above if it is called `logs`.
std::string job_of_folder(const fs::path& folder) {
  std::string job = folder_name(folder);
  if (job != "logs" && job != "log") return job;
  std::string above = folder_name(fs::absolute(folder).lexically_normal() / "..");
  return above.empty() ? job : above;  // /logs of a container
}

/// All known file times lie within 2 s of each other.
bool all_alike(const std::vector<LogFile>& files) {
  std::optional<TimeMs> first, last;
  for (const LogFile& file : files) {
    if (!file.modified) continue;
    keep_earliest(first, file.modified);
    keep_latest(last, file.modified);
  }
  return !first || *last - *first <= Millis{2000};
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
  void take_left_out();
  Error nothing_found(const std::vector<fs::path>& paths) const;
  void add(const Found& found, const std::string& prefix, const std::vector<std::string>& above,
           bool asked_for);
  void fill(LogFile& file, const Found& found, const std::vector<std::string>& above);
  void warn(std::string kind, const std::string& file, std::string reason,
            std::uint64_t bytes = 0) {
    out_.warnings.push_back({std::move(kind), file, std::move(reason), bytes});
  }

  /// `name`, or the path as it was given if another one has that name already.
  std::string unique(const std::string& name, const fs::path& path) {
    if (tops_.insert(name).second) return name;
    const std::string spelled = path.lexically_normal().string();
    return spelled.ends_with('/') ? spelled.substr(0, spelled.size() - 1) : spelled;
  }

  const Options& options_;
  bool several_;
  std::set<std::string> tops_;  // first folder or file name of each path given
  std::optional<LayoutPattern> layout_;
  Discovery out_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  std::map<std::string, std::size_t> jobs_;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> skipped_;  // files, bytes
  /// One left out by its extension that may hold a log all the same, with what add() needs.
  struct LeftOut {
    Found found;
    std::string prefix;
    std::vector<std::string> above;
  };
  std::vector<LeftOut> left_out_;
};

/// Node, rank and the rest, from the layout, the known names, else the folder, else the file.
void Search::fill(LogFile& file, const Found& found, const std::vector<std::string>& above) {
  PathParts parts = split_path(found.relative);
  const std::vector<std::string> own = parts.folders;
  parts.folders.insert(parts.folders.begin(), above.begin(), above.end());
  std::optional<PathFacts> given;
  if (layout_) given = layout_->match(found.relative);
  const PathFacts facts = given ? *given : facts_of(parts);
  if (!facts.job.empty()) ++jobs_[facts.job];
  place(file, facts, own, above, parts.stem);
}

void Search::add(const Found& found, const std::string& prefix,
                 const std::vector<std::string>& above, bool asked_for) {
  const std::string name = prefix.empty() ? found.relative : prefix + "/" + found.relative;
  const std::pair identity{found.on_disk.device, found.on_disk.inode};
  if (!seen_.contains(identity) && !asked_for &&
      has_data_extension(fs::path{found.relative}.filename().string()) &&
      !holds_json_log(found.path)) {
    auto& skipped = skipped_[fs::path{found.relative}.extension().string()];
    ++skipped.first;
    skipped.second += found.on_disk.bytes;
    if (left_out_.size() < options_.files_max && may_hold_lines(found.path.filename().string()))
      left_out_.push_back({found, prefix, above});
    return;
  }
  if (!seen_.insert(identity).second) {
    warn("duplicate", name, "the same file under another name");
    return;
  }
  if (out_.files.size() >= options_.files_max) return;
  const auto content = content_of(found.path);
  if (!content) {
    warn("unreadable", name, content.error().reason, found.on_disk.bytes);
    return;
  }
  if (*content == Content::binary) {
    warn("binary", name, "its first 4 KiB are not text", found.on_disk.bytes);
    return;
  }
  LogFile file;
  file.path = found.path;
  file.name = name;
  file.bytes = found.on_disk.bytes;
  file.modified = found.on_disk.modified;
  file.device = found.on_disk.device;
  file.inode = found.on_disk.inode;
  fill(file, found, above);
  out_.files.push_back(std::move(file));
}

void Search::path(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    warn("missing", path.string(),
         error && error != std::errc::no_such_file_or_directory ? error.message()
                                                                : "does not exist");
    return;
  }
  if (fs::is_directory(status)) {
    const std::string name = several_ ? unique(folder_name(path), path) : "";
    const auto above = folders_above(path, options_.private_folder);
    for (const Found& found : walk(path, options_.files_max, out_.warnings))
      add(found, name, above, false);
    return;
  }
  const auto found = inspect(path, unique(path.filename().string(), path));
  if (!found) {
    warn("not_a_file", path.string(), "neither a file nor a folder");
    return;
  }
  add(*found, "", folders_above(fs::absolute(path, error).parent_path(), options_.private_folder),
      true);
}

/// Why nothing was found: the first few entries that were left out, each with its reason.
Error Search::nothing_found(const std::vector<fs::path>& paths) const {
  constexpr std::size_t kNamedMax = 3;
  const auto& warnings = out_.warnings;
  const bool itself = warnings.size() == 1 && paths.size() == 1 &&
                      (warnings[0].file.empty() || warnings[0].file == paths[0] ||
                       warnings[0].file == paths[0].filename());
  if (itself) return {paths[0].string(), warnings[0].reason};
  std::string reason = "holds no log file";
  for (std::size_t i = 0; i < std::min(kNamedMax, warnings.size()); ++i)
    reason += (i == 0 ? "; left out: " : ", ") +
              (warnings[i].file.empty() ? paths[0].string() : warnings[i].file) + " (" +
              warnings[i].reason + ")";
  if (warnings.size() > kNamedMax)
    reason += " and " + std::to_string(warnings.size() - kNamedMax) + " more";
  std::string where;
  for (const fs::path& path : paths) where += (where.empty() ? "" : ", ") + path.string();
  return {where, reason};
}

/// Where nothing else is, a text that is no log by its extension is read all the same.
void Search::take_left_out() {
  for (const LeftOut& one : left_out_) {
    add(one.found, one.prefix, one.above, true);
    const std::string extension = one.found.path.extension().string();
    if (const auto counted = skipped_.find(extension);
        counted != skipped_.end() && --counted->second.first == 0)
      skipped_.erase(counted);
  }
  if (!out_.files.empty())
    warn("no_log", out_.files.front().name,
         "no log by its extension, but there is no other file: read as one");
}

Result<Discovery> Search::finish(const std::vector<fs::path>& paths) {
  if (out_.files.empty()) take_left_out();
  out_.files = join_rotated(std::move(out_.files));
  for (const auto& [extension, count] : skipped_)
    warn("skipped", "*" + extension,
         std::to_string(count.first) + " file(s) are no logs by their extension", count.second);
  if (out_.files.empty()) return std::unexpected(nothing_found(paths));
  const auto most = std::max_element(
      jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != jobs_.end()) {
    out_.job = most->first;
  } else {
    out_.job = job_of_folder(paths.front());
  }
  out_.mtimes_equal = all_alike(out_.files);
  return std::move(out_);
}

}  // namespace

std::uint64_t LogFile::bytes_with_older() const {
  std::uint64_t sum = bytes;
  for (const OlderFile& file : older) sum += file.bytes;
  return sum;
}

Described describe(const fs::path& path, const fs::path& root) {
  Described found;
  found.file.path = path;
  found.file.name = path.lexically_relative(root).string();
  PathParts parts = split_path(found.file.name);
  const std::vector<std::string> own = parts.folders;
  const std::vector<std::string> above = folders_above(root, {});
  parts.folders.insert(parts.folders.begin(), above.begin(), above.end());
  const PathFacts facts = facts_of(parts);
  place(found.file, facts, own, above, parts.stem);
  found.job = facts.job;
  // The folder may belong to a node: node-07 below the folder of the job.
  const std::string name = folder_name(root);
  const bool of_node = name == found.file.node && node_like(name) &&
                       name.find_first_of("0123456789") != std::string::npos;
  found.folder_job = job_of_folder(of_node ? root.parent_path() : root);
  return found;
}

Result<Discovery> discover(const std::vector<fs::path>& paths, const Options& options) {
  Search search{options, paths.size() > 1};
  if (auto ready = search.prepare(); !ready) return std::unexpected(ready.error());
  if (paths.empty()) return std::unexpected(Error{"", "no path was given"});
  for (const auto& path : paths) search.path(path);
  return search.finish(paths);
}

}  // namespace l4::discover
