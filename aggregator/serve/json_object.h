// A JSON object in a request, read strictly, field by field.
//
// Flow: a request's body -> parse_json -> JsonObject -> its handler. The handler reads each field
// that it knows and calls finish() at the end, which returns the first error with the name of its
// field: a field that is missing, of another type, too long, repeated or unknown, or that has
// control characters. Plain value, one thread. Bounds: that of the body; nesting is refused.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/serve/json_value.h"
#include "common/base/error.h"

namespace l4::serve {

class JsonObject {
 public:
  /// Texts, lists of texts, and truth values; anything else is an Error.
  static Result<JsonObject> read(std::string_view text);

  /// At most `bytes_max`, one line of valid UTF-8 without control characters, not blank.
  std::string text(std::string_view field, std::size_t bytes_max);
  /// Like text(); empty if the field is absent or null.
  std::string text_or_none(std::string_view field, std::size_t bytes_max);
  /// At most `count_max` such texts; none if the field is absent or null.
  std::vector<std::string> texts_or_none(std::string_view field, std::size_t count_max,
                                         std::size_t bytes_max);
  bool flag_or(std::string_view field, bool fallback);

  /// Notes an error in the field.
  void refuse(std::string_view field, std::string_view reason);
  /// The first error; `where` is the field.
  std::optional<Error> finish();

 private:
  explicit JsonObject(JsonValue body) : body_(std::move(body)) {}
  const JsonValue* find(std::string_view field);
  bool is_line(std::string_view field, std::string_view text, std::size_t bytes_max);

  JsonValue body_;
  std::set<std::string, std::less<>> asked_;
  std::optional<Error> error_;
};

}  // namespace l4::serve
