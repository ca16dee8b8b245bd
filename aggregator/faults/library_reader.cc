#include "aggregator/faults/library_reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include "aggregator/faults/pattern.h"
#include "common/base/thread.h"
#include "common/config/config_table.h"

namespace l4::faults {
namespace {

constexpr std::array<std::string_view, 4> kCategories{"hardware", "user", "framework", "platform"};
/// The closed list of each category.
const std::array<std::vector<std::string_view>, 4> kSubcategories{{
    {"network", "accelerator", "node", "storage"},
    {"config", "program", "incompatibility", "misoperation"},
    {"bug"},
    {"scheduling", "resource", "config"},
}};

struct ConditionKey {
  std::string_view key;
  wire::ParameterKind kind;
};
constexpr std::array<ConditionKey, 4> kConditionKeys{{
    {"code", wire::ParameterKind::code},
    {"errno", wire::ParameterKind::errno_value},
    {"signal", wire::ParameterKind::signal},
    {"exit_code", wire::ParameterKind::exit_code},
}};

void read_conditions(ConfigTable& table, Fault& fault) {
  for (auto& conditions : table.tables("parameters"))
    for (const auto& [key, kind] : kConditionKeys)
      if (conditions.has(key)) fault.conditions.push_back({kind, conditions.texts(key)});
}

std::vector<std::string> checked_patterns(ConfigTable& table, std::string_view key,
                                          std::vector<std::string> patterns) {
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (const auto error = error_of(expand_pattern(patterns[i])); !error.empty())
      table.refuse(key, patterns[i] + ": " + error, i);
  return patterns;
}

Level read_severity(ConfigTable& table) {
  constexpr std::array kSeverities{Level::info, Level::warning, Level::error, Level::fatal};
  return kSeverities[table.choice("severity", {"info", "warning", "error", "fatal"})];
}

Scope read_scope(ConfigTable& table) {
  constexpr std::array kScopes{Scope::rank, Scope::node, Scope::several, Scope::all};
  return kScopes[table.choice("scope", {"rank", "node", "several", "all"})];
}

std::string read_sentence(ConfigTable& table, std::string_view key) {
  std::string sentence = table.text(key);
  if (sentence.empty()) table.refuse(key, "must not be empty");
  return sentence;
}

std::optional<Confirmation> read_confirmation(ConfigTable& table) {
  auto tables = table.tables("confirmed");
  if (tables.empty()) return std::nullopt;
  ConfigTable& given = tables.front();
  Confirmation confirmation;
  confirmation.by = read_sentence(given, "by");
  const std::string at = read_sentence(given, "at");
  if (const auto time = parse_time(at))
    confirmation.at = *time;
  else
    given.refuse("at", at + ": is no time such as 2026-11-20T15:54:42Z");
  confirmation.incident = read_sentence(given, "incident");
  return confirmation;
}

Fault read_entry(ConfigTable& table) {
  Fault fault;
  fault.id = read_sentence(table, "id");
  fault.title = read_sentence(table, "title");
  fault.category =
      static_cast<Category>(table.choice("category", {kCategories.begin(), kCategories.end()}));
  const auto& subcategories = subcategories_of(fault.category);
  fault.subcategory = subcategories[table.choice("subcategory", subcategories)];
  fault.patterns = checked_patterns(table, "patterns", table.texts("patterns"));
  fault.unless = checked_patterns(table, "unless", table.texts_or_none("unless"));
  read_conditions(table, fault);
  fault.scope = read_scope(table);
  fault.severity = read_severity(table);
  fault.consequence = table.flag_or("consequence", false);
  fault.general = table.flag_or("general", false);
  fault.timeout = table.flag_or("timeout", false);
  fault.setup = table.flag_or("setup", false);
  fault.accuses_peer = table.flag_or("accuses_peer", false);
  if (table.has("stopped_by")) fault.stopped_by = read_sentence(table, "stopped_by");
  fault.cause = read_sentence(table, "cause");
  fault.fix = read_sentence(table, "fix");
  fault.action = read_sentence(table, "action");
  fault.matches = table.texts("matches");
  fault.rejects = table.texts("rejects");
  fault.confirmed = read_confirmation(table);
  return fault;
}

/// The first bad entry is the Error.
Result<std::vector<Fault>> read_entries(Result<ConfigTable> root, const std::string& family) {
  if (!root) return std::unexpected(root.error());
  std::vector<Fault> entries;
  for (auto& table : root->tables("fault")) {
    entries.push_back(read_entry(table));
    entries.back().family = family;
  }
  if (!root->has("fault")) root->refuse("fault", "missing: at least one [[fault]] is needed");
  if (auto error = root->finish()) return std::unexpected(*error);
  return entries;
}

Result<std::vector<Fault>> read_file(const std::filesystem::path& file) {
  return read_entries(ConfigTable::load(file), file.stem());
}

/// The error of entry number `index` of a file, whose id another entry has.
Error repeated(const std::filesystem::path& file, std::size_t index, const std::string& id) {
  auto root = ConfigTable::load(file);
  const std::string reason = id + " stands twice in the library";
  if (!root) return {file.string(), reason};
  auto tables = root->tables("fault");
  if (index < tables.size()) tables[index].refuse("id", reason);
  return root->finish().value_or(Error{file.string(), reason});
}

}  // namespace

std::string_view name(Category category) {
  return kCategories[static_cast<std::size_t>(category)];
}

const std::vector<std::string_view>& subcategories_of(Category category) {
  return kSubcategories[static_cast<std::size_t>(category)];
}

std::string_view name(wire::ParameterKind kind) {
  const auto found = std::ranges::find(kConditionKeys, kind, &ConditionKey::kind);
  return found == kConditionKeys.end() ? "" : found->key;
}

Result<std::vector<Fault>> read_text(std::string_view text, const std::filesystem::path& name) {
  return read_entries(ConfigTable::parse(text, name.string()), name.stem());
}

Result<std::vector<Fault>> read_folder(const std::filesystem::path& folder) {
  const auto files = list_config_files(folder);
  if (!files) return std::unexpected(files.error());
  std::vector<Result<std::vector<Fault>>> read(files->size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < read.size(); i = next++) read[i] = read_file((*files)[i]);
  };
  {
    const std::size_t workers =
        std::min<std::size_t>(std::thread::hardware_concurrency(), read.size());
    std::vector<std::jthread> others;
    others.reserve(workers);
    bool may_start = true;
    while (may_start && others.size() + 1 < workers) try {
        others.push_back(start_thread("fault-library", work));
      } catch (const std::system_error&) {
        may_start = false;  // a limit of processes or of memory: fewer threads do all the work
      }
    work();
  }
  std::vector<Fault> faults;
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) return std::unexpected(read[i].error());
    for (std::size_t entry = 0; entry < read[i]->size(); ++entry) {
      Fault& fault = (*read[i])[entry];
      if (!ids.insert(fault.id).second)
        return std::unexpected(repeated((*files)[i], entry, fault.id));
      faults.push_back(std::move(fault));
    }
  }
  return faults;
}

}  // namespace l4::faults
