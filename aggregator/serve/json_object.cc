#include "aggregator/serve/json_object.h"

#include <fmt/format.h>

#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

/// Why this must not be a member of a body; empty if it may.
std::string_view reason_against(const JsonValue& value) {
  if (value.number()) return "must be no number";
  if (value.members() != nullptr) return "must be no object";
  if (value.list() == nullptr) return {};
  for (const JsonValue& element : *value.list()) {
    if (element.list() != nullptr) return "must be no list of lists";
    if (const std::string_view reason = reason_against(element); !reason.empty()) return reason;
    if (element.text() == nullptr) return "must be a list of texts";
  }
  return {};
}

}  // namespace

Result<JsonObject> JsonObject::read(std::string_view text) {
  auto body = parse_json(text);
  if (!body) {
    const auto& [byte, reason] = body.error();
    return std::unexpected(
        Error{"", byte == 0 ? reason : fmt::format("is no JSON, from byte {} on", byte)});
  }
  if (body->members() == nullptr) return std::unexpected(Error{"", "must be an object"});
  std::set<std::string_view> names;
  for (const auto& [name, value] : *body->members()) {
    if (!names.insert(name).second) return std::unexpected(Error{name, "stands twice"});
    if (const auto reason = reason_against(value); !reason.empty())
      return std::unexpected(Error{name, std::string(reason)});
  }
  return JsonObject(std::move(*body));
}

const JsonValue* JsonObject::find(std::string_view field) {
  asked_.emplace(field);
  const JsonValue* found = body_.find(field);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool JsonObject::is_line(std::string_view field, std::string_view text, std::size_t bytes_max) {
  const auto wrong = [&](std::string_view reason) {
    refuse(field, reason);
    return false;
  };
  if (text.size() > bytes_max)
    return wrong(fmt::format("has {} bytes, at most {} are taken", text.size(), bytes_max));
  if (text.find_first_not_of(' ') == text.npos) return wrong("must not be empty");
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    if (is_control(point.value))
      return wrong(fmt::format("has a control character (U+{:04X}) at byte {}",
                               static_cast<std::uint32_t>(point.value), at));
    at += point.bytes;
  }
  return true;
}

std::string JsonObject::text(std::string_view field, std::size_t bytes_max) {
  if (find(field) == nullptr) {
    refuse(field, "is missing");
    return {};
  }
  return text_or_none(field, bytes_max);
}

std::string JsonObject::text_or_none(std::string_view field, std::size_t bytes_max) {
  const JsonValue* value = find(field);
  if (value == nullptr) return {};
  const std::string* text = value->text();
  if (text == nullptr) refuse(field, "must be text");
  return text != nullptr && is_line(field, *text, bytes_max) ? *text : std::string();
}

std::vector<std::string> JsonObject::texts_or_none(std::string_view field, std::size_t count_max,
                                                   std::size_t bytes_max) {
  const JsonValue* value = find(field);
  if (value == nullptr) return {};
  const JsonValue::List* list = value->list();
  if (list == nullptr) {
    refuse(field, "must be a list of texts");
    return {};
  }
  if (list->size() > count_max)
    refuse(field, fmt::format("holds {} texts, at most {} are taken", list->size(), count_max));
  std::vector<std::string> texts;
  for (const JsonValue& element : *list) {
    texts.push_back(*element.text());
    is_line(field, texts.back(), bytes_max);
  }
  return texts;
}

bool JsonObject::flag_or(std::string_view field, bool fallback) {
  const JsonValue* value = find(field);
  if (value == nullptr) return fallback;
  const bool* is = value->flag();
  if (is == nullptr) refuse(field, "must be true or false");
  return is != nullptr ? *is : fallback;
}

void JsonObject::refuse(std::string_view field, std::string_view reason) {
  if (!error_) error_ = Error{std::string(field), std::string(reason)};
}

std::optional<Error> JsonObject::finish() {
  const std::string* unknown = nullptr;
  for (const auto& [field, value] : *body_.members())
    if (!asked_.contains(field) && (unknown == nullptr || field < *unknown)) unknown = &field;
  if (unknown != nullptr) refuse(*unknown, "is not known here");
  return error_;
}

}  // namespace l4::serve
