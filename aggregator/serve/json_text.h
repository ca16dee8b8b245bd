// A writer of JSON for everything but reports: lists of jobs, agents, incidents, alerts.
//
// The output is valid UTF-8 for any input, control characters are escaped, times are RFC 3339.
// Plain value, one thread; the caller closes every bracket that it opens.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::serve {

/// Appends the text as a JSON string in quotation marks.
void append_json_text(std::string& out, std::string_view text);
/// At most 4 decimals; 0 for NaN and infinities.
std::string json_number(double value);

class JsonWriter {
 public:
  JsonWriter& open(char bracket) { return start().write_bracket(bracket, true); }
  JsonWriter& close(char bracket) { return write_bracket(bracket, false); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool is) { return raw(is ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }
  JsonWriter& value(double number) { return raw(json_number(number)); }
  JsonWriter& value(TimeMs time) { return value(to_rfc3339(time)); }
  template <class Tag, class T>
  JsonWriter& value(Named<Tag, T> id) {
    return value(id.value());
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : raw("null");
  }
  template <class T>
  JsonWriter& value(const std::vector<T>& list) {
    open('[');
    for (const T& one : list) value(one);
    return close(']');
  }
  /// Appends finished JSON, which is not checked.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }

  std::string release() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }  ///< bytes so far

 private:
  JsonWriter& start();
  JsonWriter& write_bracket(char bracket, bool opens);

  std::string out_;
  bool first_ = true;
};

}  // namespace l4::serve
