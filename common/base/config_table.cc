#include "common/base/config_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

// With exceptions, as in every source that includes it: its two builds do not link together.
// toml++ asserts on some malformed keys before it reports them: a report is what we want.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

namespace l4 {

struct ConfigTable::File {
  std::string name;
  toml::table root;
  std::optional<Error> error;

  void note(std::uint32_t line, std::string_view key, std::string_view reason) {
    if (error) return;
    std::string where = name + ":" + std::to_string(line);
    if (!key.empty()) where.append(": ").append(key);
    error = Error{std::move(where), std::string(reason)};
  }
};

struct ConfigTable::Node {
  const toml::table* table = nullptr;
  std::set<std::string, std::less<>> asked;
  std::vector<std::shared_ptr<Node>> children;

  const toml::node* ask(std::string_view key) {
    asked.emplace(key);
    return table->get(key);
  }

  /// The first key that nobody asked for, depth first.
  void check(File& file) const {
    for (const auto& [key, value] : *table)
      if (!asked.contains(key.str()))
        file.note(value.source().begin.line, key.str(), "unknown key");
    for (const auto& child : children) child->check(file);
  }
};

ConfigTable::ConfigTable(std::shared_ptr<File> file, std::shared_ptr<Node> node)
    : file_(std::move(file)), node_(std::move(node)) {}

Result<ConfigTable> ConfigTable::load(const std::filesystem::path& file) {
  constexpr std::uintmax_t kBytesMax = 64 << 20;
  const auto refused = [&](std::string reason) {
    return std::unexpected(Error{file.string(), std::move(reason)});
  };
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (std::filesystem::is_directory(status)) return refused("is a folder");
  if (!std::filesystem::exists(status)) return refused("cannot be opened: " + code.message());
  if (!std::filesystem::is_regular_file(status)) return refused("is no file");  // a FIFO never ends
  if (std::filesystem::file_size(file, code) > kBytesMax)
    return refused("is larger than 64 MiB, which no settings are");
  errno = 0;
  std::ifstream input(file, std::ios::binary);
  std::ostringstream content;
  if (input.peek() != std::ifstream::traits_type::eof()) content << input.rdbuf();
  if (!input.is_open() || input.bad())
    return refused(std::string("cannot be read: ") + std::strerror(errno));
  return parse(content.view(), file.string());
}

Result<ConfigTable> ConfigTable::parse(std::string_view text, const std::string& name) {
  auto shared = std::make_shared<File>();
  shared->name = name;
  try {
    shared->root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const auto line = std::to_string(error.source().begin.line);
    return std::unexpected(
        Error{name + ":" + line, "no valid TOML: " + std::string(error.description())});
  }
  auto node = std::make_shared<Node>();
  node->table = &shared->root;
  return ConfigTable(std::move(shared), std::move(node));
}

bool ConfigTable::has(std::string_view key) const {
  return node_->table->contains(key);
}

std::string ConfigTable::text(std::string_view key) {
  if (!has(key)) {
    refuse(key, "missing");
    return {};
  }
  return text_or(key, "");
}

std::vector<std::string> ConfigTable::texts(std::string_view key) {
  auto values = texts_or_none(key);
  if (values.empty()) refuse(key, "missing: at least one text is needed");
  return values;
}

std::string ConfigTable::text_or(std::string_view key, std::string_view fallback) {
  const toml::node* node = node_->ask(key);
  if (node == nullptr) return std::string(fallback);
  if (const auto* value = node->as_string()) return value->get();
  refuse(key, "must be a text");
  return std::string(fallback);
}

std::vector<std::string> ConfigTable::texts_or_none(std::string_view key) {
  const toml::node* node = node_->ask(key);
  std::vector<std::string> values;
  if (node == nullptr) return values;
  if (const auto* one = node->as_string()) {
    values.push_back(one->get());
    return values;
  }
  const auto* list = node->as_array();
  if (list == nullptr) refuse(key, "must be a text or a list of texts");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto* value = (*list)[i].as_string())
      values.push_back(value->get());
    else
      refuse(key, "must be a list of texts", i);
  }
  return values;
}

bool ConfigTable::flag_or(std::string_view key, bool fallback) {
  const toml::node* node = node_->ask(key);
  if (node == nullptr) return fallback;
  if (const auto* value = node->as_boolean()) return value->get();
  refuse(key, "must be true or false");
  return fallback;
}

std::int64_t ConfigTable::integer_or(std::string_view key, std::int64_t fallback) {
  const toml::node* node = node_->ask(key);
  if (node == nullptr) return fallback;
  if (const auto* value = node->as_integer()) return value->get();
  refuse(key, "must be an integer");
  return fallback;
}

std::size_t ConfigTable::choice(std::string_view key, const std::vector<std::string_view>& words) {
  const std::string word = text(key);
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string reason = "must be one of";
  for (std::string_view allowed : words) reason.append(" ").append(allowed);
  refuse(key, reason);
  return 0;
}

std::vector<ConfigTable> ConfigTable::tables(std::string_view key) {
  const toml::node* node = node_->ask(key);
  std::vector<ConfigTable> found;
  const auto add = [&](const toml::table& table) {
    auto child = std::make_shared<Node>();
    child->table = &table;
    node_->children.push_back(child);
    found.push_back(ConfigTable(file_, std::move(child)));
  };
  if (node == nullptr) return found;
  if (const auto* table = node->as_table()) {
    add(*table);
    return found;
  }
  const auto* list = node->as_array();
  if (list == nullptr) refuse(key, "must be a table");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto* table = (*list)[i].as_table())
      add(*table);
    else
      refuse(key, "must be a list of tables", i);
  }
  return found;
}

std::uint32_t ConfigTable::line_of(std::string_view key, std::size_t element) const {
  const toml::node* node = node_->table->get(key);
  if (node == nullptr) return node_->table->source().begin.line;
  if (const auto* list = node->as_array(); list != nullptr && element < list->size())
    node = list->get(element);
  return node->source().begin.line;
}

void ConfigTable::refuse(std::string_view key, std::string_view reason, std::size_t element) {
  file_->note(line_of(key, element), key, reason);
}

std::optional<Error> ConfigTable::finish() const {
  if (!file_->error) node_->check(*file_);
  return file_->error;
}

Result<std::vector<std::filesystem::path>> list_config_files(const std::filesystem::path& folder) {
  std::error_code code;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    if (it->path().extension() == ".toml") files.push_back(it->path());
  if (code) return std::unexpected(Error{folder.string(), "cannot be listed: " + code.message()});
  if (files.empty()) return std::unexpected(Error{folder.string(), "holds no .toml file"});
  std::ranges::sort(files);
  return files;
}

}  // namespace l4
