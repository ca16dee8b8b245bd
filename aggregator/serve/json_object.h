// A JSON object that somebody sent, read strictly: field by field, each known by name.
//
// Flow: a request's body -> JsonObject -> whoever asked. A reader asks for each field it knows and
// calls finish() at the end: it says what was wrong first, naming the field, be it a missing one,
// another type, one that is too long, control characters, a field twice, or one nobody asked for.
// Plain value, one thread. Bounds: those of whoever read the body; nesting is refused.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/error.h"

namespace l4::serve {

class JsonObject {
 public:
  /// Texts, lists of texts, and truth values; anything else is an Error.
  static Result<JsonObject> read(std::string_view text);

  /// At most `bytes_max`, one line of valid UTF-8 without control characters, not blank.
  std::string text(std::string_view field, std::size_t bytes_max);
  /// The same; empty if it is absent or null.
  std::string text_or_none(std::string_view field, std::size_t bytes_max);
  /// At most `count_max` such texts; none if it is absent or null.
  std::vector<std::string> texts_or_none(std::string_view field, std::size_t count_max,
                                         std::size_t bytes_max);
  bool flag_or(std::string_view field, bool fallback);

  /// Notes a fault there.
  void refuse(std::string_view field, std::string_view reason);
  /// The first fault; `where` is the field.
  std::optional<Error> finish();

 private:
  using Value = std::variant<std::monostate, bool, std::string, std::vector<std::string>>;
  friend class JsonObjectReader;

  const Value* take(std::string_view field);
  bool is_line(std::string_view field, std::string_view text, std::size_t bytes_max);

  std::map<std::string, Value, std::less<>> fields_;
  std::map<std::string, bool, std::less<>> asked_;
  std::optional<Error> error_;
};

}  // namespace l4::serve
