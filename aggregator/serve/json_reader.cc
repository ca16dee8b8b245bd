#include "aggregator/serve/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "aggregator/serve/utf8.h"

namespace l4::serve {

JsonReader::Step::Step(JsonReader& reader, std::string_view name)
    : path_(reader.path_), size_(path_.size()) {
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

JsonReader::Step::Step(JsonReader& reader, std::size_t index)
    : path_(reader.path_), size_(path_.size()) {
  path_ += '[' + std::to_string(index) + ']';
}

void JsonReader::fail(std::string reason) {
  if (!error_) error_ = Error{path_, std::move(reason)};
}

void JsonReader::fail(std::string_view reason, const JsonValue& value) {
  fail(std::string(reason) + ", not " + shown_json(value));
}

std::string shown_json(const JsonValue& value) {
  constexpr std::size_t kShown = 40;
  if (value.list() != nullptr) return "a list";
  if (value.members() != nullptr) return "an object";
  return cut(harmless(dump_json(value)), kShown);
}

void read_json(JsonReader& reader, const JsonValue& json, std::string& text) {
  if (const std::string* value = json.text())
    text = *value;
  else
    reader.fail("must be a string", json);
}

void read_json(JsonReader& reader, const JsonValue& json, bool& is) {
  if (const bool* value = json.flag())
    is = *value;
  else
    reader.fail("must be true or false", json);
}

void read_json(JsonReader& reader, const JsonValue& json, double& number) {
  const auto value = json.number();
  if (value && std::isfinite(*value))
    number = *value;
  else
    reader.fail("must be a number", json);
}

void read_json(JsonReader& reader, const JsonValue& json, TimeMs& time) {
  const auto value = json.text() != nullptr ? parse_time(*json.text()) : std::nullopt;
  if (value && (reader.times() == JsonTimes::any || to_rfc3339(*value) == *json.text()))
    time = *value;
  else
    reader.fail("must be a time such as 2026-11-20T15:54:42.120Z", json);
}

void read_json(JsonReader& reader, const JsonValue& json, TemplateId& id) {
  const std::string_view text = json.text() != nullptr ? *json.text() : std::string_view();
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (to_string(TemplateId{value}) != text)
    return reader.fail("must be 16 hexadecimal digits", json);
  id = TemplateId{value};
}

JsonMembers::JsonMembers(JsonReader& reader, const JsonValue& object)
    : reader_(reader), object_(object) {
  if (object.members() == nullptr) reader_.fail("must be an object");
}

const JsonValue* JsonMembers::find(std::string_view name) {
  if (reader_.failed()) return nullptr;
  const JsonValue* member = object_.find(name);
  if (member != nullptr) known_.push_back(name);
  return member;
}

const JsonValue* JsonMembers::needed(std::string_view name) {
  const JsonValue* member = find(name);
  if (member == nullptr) fail(name, "is missing");
  return member;
}

std::string JsonMembers::text_or_null(std::string_view name) {
  return get<std::optional<std::string>>(name).value_or("");
}

std::vector<std::string> JsonMembers::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : *object_.members()) names.push_back(name);
  return names;
}

void JsonMembers::fail(std::string_view name, std::string reason) {
  const JsonReader::Step step(reader_, name);
  reader_.fail(std::move(reason));
}

void JsonMembers::fail(std::string_view name, std::string_view reason, const JsonValue& value) {
  const JsonReader::Step step(reader_, name);
  reader_.fail(reason, value);
}

void JsonMembers::end(std::string_view reason) {
  if (reader_.failed()) return;
  constexpr std::size_t kShown = 60;
  const std::string* unknown = nullptr;
  for (const auto& [name, value] : *object_.members())
    if (std::ranges::find(known_, name) == known_.end() && (!unknown || name < *unknown))
      unknown = &name;
  if (unknown != nullptr) fail(cut(harmless(*unknown), kShown), std::string(reason));
}

}  // namespace l4::serve
