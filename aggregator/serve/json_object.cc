#include "aggregator/serve/json_object.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::serve {

/// Handles the parser's events; the first one that does not fit ends the parsing.
class JsonObjectReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonObjectReader(JsonObject& into) : into_(into) {}

  bool null() override { return put(std::monostate{}); }
  bool boolean(bool is) override { return put(is); }
  bool number_integer(number_integer_t) override { return wrong("must be no number"); }
  bool number_unsigned(number_unsigned_t) override { return wrong("must be no number"); }
  bool number_float(number_float_t, const string_t&) override { return wrong("must be no number"); }
  bool binary(binary_t&) override { return wrong("must be text"); }
  bool string(string_t& text) override {
    if (list_ == nullptr) return put(text);
    list_->push_back(text);
    return true;
  }
  bool start_object(std::size_t) override {
    if (std::exchange(open_, true)) return wrong("must be no object");
    return true;
  }
  bool key(string_t& name) override {
    field_ = name;
    if (into_.fields_.contains(field_)) return wrong("stands twice");
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    if (!open_) return wrong("must be an object");
    if (list_ != nullptr) return wrong("must be no list of lists");
    list_ = &std::get<std::vector<std::string>>(
        into_.fields_.emplace(field_, std::vector<std::string>()).first->second);
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    if (!error_) error_ = Error{"", fmt::format("is no JSON, from byte {} on", position)};
    return false;
  }

  std::optional<Error> error() const { return error_; }

 private:
  bool put(JsonObject::Value value) {
    if (!open_) return wrong("must be an object");
    if (list_ != nullptr) return wrong("must be a list of texts");
    into_.fields_.emplace(field_, std::move(value));
    return true;
  }
  bool wrong(std::string reason) {
    if (!error_) error_ = Error{field_, std::move(reason)};
    return false;
  }

  JsonObject& into_;
  std::vector<std::string>* list_ = nullptr;
  std::string field_;
  bool open_ = false;
  std::optional<Error> error_;
};

Result<JsonObject> JsonObject::read(std::string_view text) {
  JsonObject object;
  JsonObjectReader reader(object);
  const bool done = nlohmann::json::sax_parse(text, &reader);
  if (const auto error = reader.error()) return std::unexpected(*error);
  if (!done) return std::unexpected(Error{"", "is no JSON"});
  return object;
}

const JsonObject::Value* JsonObject::take(std::string_view field) {
  asked_.emplace(field, true);
  const auto found = fields_.find(field);
  return found == fields_.end() || found->second.index() == 0 ? nullptr : &found->second;
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
  if (take(field) == nullptr) {
    refuse(field, "is missing");
    return {};
  }
  return text_or_none(field, bytes_max);
}

std::string JsonObject::text_or_none(std::string_view field, std::size_t bytes_max) {
  const Value* value = take(field);
  if (value == nullptr) return {};
  const std::string* text = std::get_if<std::string>(value);
  if (text == nullptr) refuse(field, "must be text");
  return text != nullptr && is_line(field, *text, bytes_max) ? *text : std::string();
}

std::vector<std::string> JsonObject::texts_or_none(std::string_view field, std::size_t count_max,
                                                   std::size_t bytes_max) {
  const Value* value = take(field);
  if (value == nullptr) return {};
  const auto* texts = std::get_if<std::vector<std::string>>(value);
  if (texts == nullptr) {
    refuse(field, "must be a list of texts");
    return {};
  }
  if (texts->size() > count_max)
    refuse(field, fmt::format("holds {} texts, at most {} are taken", texts->size(), count_max));
  for (const std::string& text : *texts) is_line(field, text, bytes_max);
  return *texts;
}

bool JsonObject::flag_or(std::string_view field, bool fallback) {
  const Value* value = take(field);
  if (value == nullptr) return fallback;
  const bool* is = std::get_if<bool>(value);
  if (is == nullptr) refuse(field, "must be true or false");
  return is != nullptr ? *is : fallback;
}

void JsonObject::refuse(std::string_view field, std::string_view reason) {
  if (!error_) error_ = Error{std::string(field), std::string(reason)};
}

std::optional<Error> JsonObject::finish() {
  for (const auto& [field, value] : fields_)
    if (!asked_.contains(field)) refuse(field, "is not known here");
  return error_;
}

}  // namespace l4::serve
