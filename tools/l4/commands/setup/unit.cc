#include "tools/l4/commands/setup/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include "common/base/ascii.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;

using Values = std::map<std::string, std::vector<std::string>>;

/// Adds the lines KEY=VALUE of a file; an empty value takes those before it away.
void read_values(const fs::path& file, Values& values) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos || line[0] == '#' || line[0] == ';') continue;
    std::string value = line.substr(equal + 1);
    std::vector<std::string>& all = values[line.substr(0, equal)];
    value.empty() ? all.clear() : all.push_back(std::move(value));
  }
}

/// The drop-ins of all folders by name; one of a stronger folder hides one of the same name.
std::vector<fs::path> drop_ins(const std::string& unit, const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder / (unit + ".d"), failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed))
      if (entry->path().extension() == ".conf")
        by_name.emplace(entry->path().filename().string(), entry->path());
  }
  std::vector<fs::path> files;
  files.reserve(by_name.size());
  for (const auto& [name, file] : by_name) files.push_back(file);
  return files;
}

std::vector<std::string> words_of(const Values& values, const std::string& key) {
  std::vector<std::string> words;
  if (const auto at = values.find(key); at != values.end())
    for (const std::string& value : at->second) {
      std::istringstream text(value);
      for (std::string word; text >> word;) words.push_back(word);
    }
  return words;
}

std::string last_of(const Values& values, const std::string& key) {
  const auto at = values.find(key);
  return at == values.end() || at->second.empty() ? std::string() : at->second.back();
}

bool is_yes(const std::string& value) {
  return value == "yes" || value == "true" || value == "on" || value == "1";
}

bool is_below(const fs::path& path, std::string_view folder) {
  const std::string text = path.lexically_normal().string();
  return text == folder || text.starts_with(std::string(folder) + '/');
}

}  // namespace

std::vector<fs::path> unit_folders() {
  return {"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
          "/usr/lib/systemd/system", "/lib/systemd/system"};
}

Unit find_unit(const std::string& name, const std::vector<fs::path>& folders) {
  Unit unit;
  unit.name = name;
  const std::string file = name + ".service";
  std::error_code ignored;
  for (const fs::path& folder : folders)
    if (unit.file.empty() && fs::exists(folder / file, ignored)) unit.file = folder / file;
  if (unit.file.empty()) return unit;
  Values values;
  read_values(unit.file, values);
  for (const fs::path& drop_in : drop_ins(file, folders)) read_values(drop_in, values);
  unit.user = last_of(values, "User");
  unit.private_tmp = is_yes(last_of(values, "PrivateTmp"));
  const std::string homes = last_of(values, "ProtectHome");
  unit.hides_homes = is_yes(homes) || homes == "tmpfs";
  unit.is_strict = last_of(values, "ProtectSystem") == "strict";
  unit.capabilities = words_of(values, "AmbientCapabilities");
  unit.reads_all =
      std::ranges::find(unit.capabilities, "CAP_DAC_READ_SEARCH") != unit.capabilities.end();
  unit.writable = words_of(values, "ReadWritePaths");
  for (const std::string& folder : words_of(values, "StateDirectory")) {
    if (unit.state.empty()) unit.state = "/var/lib/" + folder;
    unit.writable.push_back("/var/lib/" + folder);
  }
  const auto start = words_of(values, "ExecStart");
  if (const auto at = std::ranges::find(start, "--config");
      at != start.end() && at + 1 != start.end())
    unit.config = *(at + 1);
  return unit;
}

std::string Unit::hidden(const fs::path& path) const {
  if (private_tmp && (is_below(path, "/tmp") || is_below(path, "/var/tmp")))
    return fmt::format(
        "{} is below a /tmp that the unit {} does not see: it has one of its own (PrivateTmp=)",
        path.string(), name);
  if (hides_homes &&
      (is_below(path, "/home") || is_below(path, "/root") || is_below(path, "/run/user")))
    return fmt::format("{} is below a home, which the unit {} does not see (ProtectHome=)",
                       path.string(), name);
  return {};
}

bool Unit::may_write(const fs::path& path) const {
  return !is_strict || std::ranges::any_of(writable, [&](const std::string& folder) {
    return is_below(path, folder);
  });
}

std::string without_systemd(const Unit& unit) {
  if (unit.user.empty()) return {};
  if (unit.capabilities.empty()) return fmt::format("runuser -u {} -- ", unit.user);
  std::string capabilities;
  for (const std::string& word : unit.capabilities) {
    constexpr std::string_view kPrefix = "CAP_";
    const std::size_t from = word.starts_with(kPrefix) ? kPrefix.size() : 0;
    capabilities += capabilities.empty() ? "+" : ",+";
    for (const char c : word.substr(from)) capabilities += lower(c);
  }
  return fmt::format(
      "setpriv --reuid {0} --regid {0} --clear-groups --inh-caps {1} "
      "--ambient-caps {1} ",
      unit.user, capabilities);
}

bool is_systemd_here() {
  std::error_code ignored;
  return fs::exists("/run/systemd/system", ignored);
}

}  // namespace l4::commands::setup
