#include "aggregator/faults/library_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/config_table.h"

namespace l4::faults {
namespace {

constexpr std::array<std::string_view, 4> kCategories{"hardware", "user", "framework", "platform"};

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
  for (const auto& pattern : patterns) {
    const re2::RE2 compiled(expand_pattern(pattern), re2::RE2::Quiet);
    if (!compiled.ok()) table.refuse(key, pattern + ": " + compiled.error());
    if (compiled.ok() && re2::RE2::PartialMatch("", compiled))
      table.refuse(key, pattern + ": matches every line");
  }
  return patterns;
}

Level read_severity(ConfigTable& table) {
  constexpr std::array kLevels{Level::info, Level::warning, Level::error, Level::fatal};
  return kLevels[table.choice("severity", {"info", "warning", "error", "fatal"})];
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

Fault read_entry(ConfigTable& table, std::vector<std::string>& ids) {
  Fault fault;
  fault.id = read_sentence(table, "id");
  if (std::ranges::find(ids, fault.id) != ids.end())
    table.refuse("id", fault.id + " stands twice in the library");
  ids.push_back(fault.id);
  fault.title = read_sentence(table, "title");
  fault.category =
      static_cast<Category>(table.choice("category", {kCategories.begin(), kCategories.end()}));
  fault.subcategory = read_sentence(table, "subcategory");
  fault.patterns = checked_patterns(table, "patterns", table.texts("patterns"));
  fault.unless = checked_patterns(table, "unless", table.texts_or_none("unless"));
  read_conditions(table, fault);
  fault.scope = read_scope(table);
  fault.severity = read_severity(table);
  fault.consequence = table.flag_or("consequence", false);
  fault.timeout = table.flag_or("timeout", false);
  fault.accuses_peer = table.flag_or("accuses_peer", false);
  fault.cause = read_sentence(table, "cause");
  fault.fix = read_sentence(table, "fix");
  fault.action = read_sentence(table, "action");
  fault.matches = table.texts("matches");
  fault.rejects = table.texts("rejects");
  return fault;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string_view name(Category category) {
  return kCategories[static_cast<std::size_t>(category)];
}

std::string expand_pattern(std::string_view pattern) {
  std::string expanded;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char behind = i + 1 < pattern.size() ? pattern[i + 1] : 'x';
    const bool repeated = behind == '*' || behind == '+' || behind == '?';
    expanded += pattern[i];
    if (pattern[i] == ' ' && !repeated) expanded += '+';
  }
  replace_all(expanded, "{n}", R"((?:(?:<\*>|[-+]?[0-9])[0-9A-Za-z.:,_<*>-]*))");
  replace_all(expanded, "{w}", R"((?:[^\s]+))");
  return expanded;
}

Result<std::vector<Fault>> read_entries(const std::filesystem::path& file,
                                        std::vector<std::string>& ids) {
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  std::vector<Fault> entries;
  for (auto& table : root->tables("fault")) entries.push_back(read_entry(table, ids));
  if (auto error = root->finish()) return std::unexpected(*error);
  return entries;
}

}  // namespace l4::faults
