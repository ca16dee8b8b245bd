// A JSON document in memory: parsed from text, or built to be written.
//
// Flow: text -> parse_json -> json_reader.h, which reads typed fields; or values -> JsonValue ->
// dump_json. json_value.cc is the only source that includes the JSON library, which is dear to
// compile. Plain value. Bounds: memory in proportion to the text; kJsonDepthMax levels when parsed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace l4::serve {

/// More than any document of ours has; deeper ones could run out of stack.
inline constexpr std::size_t kJsonDepthMax = 64;

class JsonValue {
 public:
  using List = std::vector<JsonValue>;
  using Members = std::vector<std::pair<std::string, JsonValue>>;  ///< in the order of the text

  JsonValue() = default;  ///< null
  JsonValue(std::nullptr_t) {}
  JsonValue(bool is) : value_(is) {}
  JsonValue(double number) : value_(number) {}
  JsonValue(std::signed_integral auto number) : value_(std::int64_t{number}) {}
  JsonValue(std::unsigned_integral auto number) : value_(std::uint64_t{number}) {}
  JsonValue(const char* text) : value_(std::string(text)) {}
  JsonValue(std::string_view text) : value_(std::string(text)) {}
  JsonValue(std::string text) : value_(std::move(text)) {}
  JsonValue(List list) : value_(std::move(list)) {}
  JsonValue(const std::vector<std::string>& texts) : value_(List(texts.begin(), texts.end())) {}
  JsonValue(Members members) : value_(std::move(members)) {}

  bool is_null() const { return value_.index() == 0; }
  /// Null if the value is of another type.
  const bool* flag() const { return std::get_if<bool>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  List* list() { return std::get_if<List>(&value_); }
  const Members* members() const { return std::get_if<Members>(&value_); }
  Members* members() { return std::get_if<Members>(&value_); }
  std::optional<double> number() const;
  bool is_integer() const;
  /// None if it is no integer or out of the range of T.
  template <std::integral T>
  std::optional<T> integer() const {
    if (const auto* value = std::get_if<std::int64_t>(&value_); value && std::in_range<T>(*value))
      return static_cast<T>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&value_); value && std::in_range<T>(*value))
      return static_cast<T>(*value);
    return std::nullopt;
  }

  /// The last member of this name; null if there is none, or if this is no object.
  const JsonValue* find(std::string_view name) const;
  JsonValue* find(std::string_view name);

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List,
               Members>
      value_;
};

struct JsonSyntaxError {
  std::size_t byte = 0;  ///< where it was found, from 1; 0 for nested too deep
  std::string reason;    ///< as the parser says it, with line and column
};

std::expected<JsonValue, JsonSyntaxError> parse_json(std::string_view text);

/// For documents that do not fit into memory: passes each element of the list that is the member
/// `list` of the document to `visit` and drops it; ends early if `visit` returns false. Returns the
/// document without these elements.
std::expected<JsonValue, JsonSyntaxError> parse_json(
    std::istream& in, std::string_view list,
    const std::function<bool(std::size_t index, JsonValue element)>& visit);

/// On one line, or indented by so many blanks a level. U+FFFD stands for bytes that are no UTF-8.
inline constexpr int kOneLine = -1;
std::string dump_json(const JsonValue& value, int indent = kOneLine);

}  // namespace l4::serve
