#include "agent/tail/source_survey.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/discover/rotation.h"
#include "agent/tail/sources.h"
#include "common/base/nearest.h"

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSurveyedNamesMax = 100'000, kSurveyedHeadsMax = 2'000, kNamesShown = 3;

/// The names in a folder, sorted and without hidden ones; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator() && names.size() < kSurveyedNamesMax;
       entries.increment(failed))
    if (auto name = entries->path().filename().string(); !name.starts_with('.'))
      names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

std::string below(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

/// "a, b, c and 12 more"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

class Survey {
 public:
  Survey(const Sources& sources, SurveyedSource& row) : sources_(sources), row_(row) {}

  void enter(const std::string& folder) {
    struct stat status{};
    if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
    if (!entered_.emplace(status.st_dev, status.st_ino).second)
      return;  // links may lead in circles
    if (::faccessat(AT_FDCWD, folder.c_str(), R_OK | X_OK, AT_EACCESS) != 0) return close(folder);
    for (const std::string& name : names_in(folder)) {
      if (++names_ > kSurveyedNamesMax) row_.cut = true;
      if (row_.cut) return;
      look_at(folder, name);
    }
  }
  /// `folder`/`name` may be a file or a folder.
  void look_at(const std::string& folder, const std::string& name) {
    const std::string path = below(folder, name);
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) {
      if (sources_.enters(path)) enter(path);
      return;
    }
    if (!S_ISREG(status.st_mode)) return;
    const std::string base = discover::rotated_name(name).base;
    const Wanted wanted = sources_.wanted(folder, base, name);
    if (wanted != Wanted::no) count(path, base, wanted, status);
  }

 private:
  void close(const std::string& path) {
    if (row_.closed++ == 0) row_.first_closed = path;
  }
  void count(const std::string& path, const std::string& base, Wanted wanted,
             const struct stat& status) {
    const bool data = discover::has_data_extension(base);
    if (!data && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) return close(path);
    if (wanted == Wanted::by_kind && (data || !is_log(path, base))) {
      if (row_.others++ == 0) row_.first_other = path;
      add_unread(path, base, data, status);
      return;
    }
    ++row_.files;
    const TimeMs written{
        Millis{std::int64_t{status.st_mtim.tv_sec} * 1'000 + status.st_mtim.tv_nsec / 1'000'000}};
    if (row_.newest.empty() || written > row_.written) {
      row_.newest = path;
      row_.written = written;
    }
  }
  void add_unread(const std::string& path, const std::string& base, bool data,
                  const struct stat& status) {
    if (row_.unread.size() >= kUnreadFilesMax || ++heads_ > kSurveyedHeadsMax) return;
    const auto content = discover::content_of(path);
    if (!content || *content != discover::Content::text) return;
    const char* why = data                                 ? "its name is that of data"
                      : discover::has_json_extension(base) ? "its first line is no logger's"
                                                           : "it looks like no log";
    row_.unread.push_back({path, why, static_cast<std::uint64_t>(status.st_size)});
  }
  /// Files beyond the bound count as logs.
  bool is_log(const std::string& path, const std::string& base) {
    if (++heads_ > kSurveyedHeadsMax) return true;
    if (discover::has_json_extension(base)) return discover::holds_json_log(path);
    const auto content = discover::content_of(path);
    return content && *content == discover::Content::text;
  }

  const Sources& sources_;
  SurveyedSource& row_;
  std::set<std::pair<dev_t, ino_t>> entered_;
  std::size_t names_ = 0, heads_ = 0;
};

bool is_wild(std::string_view part) {
  return part.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> parts_of(const std::string& pattern) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(normal_path(pattern)).relative_path())
    parts.push_back(part.string());
  return parts;
}

/// What is wrong with a folder or file that is wanted and is not in `folder`.
std::string missing(const std::string& folder, const std::string& part,
                    const std::vector<std::string>& there) {
  if (is_wild(part))
    return there.empty()
               ? fmt::format("{} is empty", folder)
               : fmt::format("nothing in {} matches {}; it holds {}", folder, part, listed(there));
  const std::string gone = fmt::format("there is no {}", below(folder, part));
  if (const std::string near = nearest_word(part, there); !near.empty())
    return fmt::format("{}; {} is there", gone, below(folder, near));
  return there.empty() ? fmt::format("{}; {} is empty", gone, folder)
                       : fmt::format("{}; {} holds {}", gone, folder, listed(there));
}

/// The names in the folder that match, files only at the end of a pattern.
std::vector<std::string> matching(const std::string& folder, const std::string& part, bool last,
                                  const std::vector<std::string>& there) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& name : there)
    if (::fnmatch(part.c_str(), name.c_str(), 0) == 0 &&
        (last || fs::is_directory(below(folder, name), ignored)))
      found.push_back(name);
  return found;
}

}  // namespace

std::string nearest_to(const std::string& pattern) {
  const auto parts = parts_of(pattern);
  std::string folder = "/";
  for (std::size_t i = 0; i < parts.size() && parts[i] != "**"; ++i) {
    const auto there = names_in(folder);
    const auto found = matching(folder, parts[i], i + 1 == parts.size(), there);
    if (found.empty()) {
      if (there.empty() && ::access(folder.c_str(), R_OK) != 0)
        return fmt::format("{} may not be read", folder);
      return missing(folder, parts[i], there);
    }
    folder = below(folder, found.front());
  }
  const auto there = names_in(folder);
  return there.empty() ? fmt::format("{} is empty", folder)
                       : fmt::format("{} holds {}, and no log that matches", folder, listed(there));
}

Result<std::vector<SurveyedSource>> survey_sources(const std::vector<std::string>& patterns,
                                                   const std::vector<std::string>& excludes) {
  std::vector<SurveyedSource> rows;
  for (const std::string& pattern : patterns) {
    const auto sources = Sources::compile({pattern}, excludes);
    if (!sources) return std::unexpected(sources.error());
    SurveyedSource& row = rows.emplace_back();
    row.pattern = pattern;
    Survey survey(*sources, row);
    for (const std::string& root : sources->roots()) {
      const fs::path path(root);
      if (std::error_code ignored; fs::is_directory(path, ignored))
        survey.enter(root);
      else
        survey.look_at(path.parent_path().string(), path.filename().string());
    }
    if (row.files > 0) continue;
    if (row.closed > 0)
      row.hint = fmt::format("{} may not be read", row.first_closed);
    else if (row.others > 0)
      row.hint = fmt::format("{} is there, but looks like no log", row.first_other);
    else
      row.hint = nearest_to(pattern);
  }
  return rows;
}

}  // namespace l4::tail
