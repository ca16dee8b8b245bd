// Reads typed values out of JSON documents; an error names the path of its value and the value.
//
// Flow: parse_json -> JsonReader with the JsonMembers of each object -> struct. One reader serves
// one document: its first error is kept, and nothing is read after it. `JsonMembers::end` refuses
// members that were not read; without that call they are skipped, so that an old reader understands
// a newer writer. Types of other rooms are read by an overload of `read_json`, which is found by
// argument. Thread-compatible; the document must outlive its JsonMembers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aggregator/serve/json_value.h"
#include "common/base/error.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::serve {

enum class JsonTimes : std::uint8_t {
  any,      ///< in any form that parse_time reads
  rfc3339,  ///< as to_rfc3339 writes them
};

class JsonReader {
 public:
  /// `root`: the path of the document, such as "$".
  explicit JsonReader(std::string root, JsonTimes times = JsonTimes::any)
      : path_(std::move(root)), times_(times) {}
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  JsonTimes times() const { return times_; }
  /// Notes an error at the value that is being read.
  void fail(std::string reason);
  /// Notes an error that shows the value: "must be a string, not 7".
  void fail(std::string_view reason, const JsonValue& value);

  /// Adds one step to the path while it lives.
  class Step {
   public:
    Step(JsonReader& reader, std::string_view name);
    Step(JsonReader& reader, std::size_t index);
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { path_.resize(size_); }

   private:
    std::string& path_;
    std::size_t size_;
  };

 private:
  std::string path_;
  JsonTimes times_;
  std::optional<Error> error_;
};

/// The value as it is shown in an error: cut, and safe on a terminal.
std::string shown_json(const JsonValue& value);

void read_json(JsonReader& reader, const JsonValue& json, std::string& text);
void read_json(JsonReader& reader, const JsonValue& json, bool& is);
void read_json(JsonReader& reader, const JsonValue& json, double& number);
void read_json(JsonReader& reader, const JsonValue& json, TimeMs& time);
void read_json(JsonReader& reader, const JsonValue& json, TemplateId& id);

template <std::integral T>
void read_json(JsonReader& reader, const JsonValue& json, T& number) {
  const auto value = json.integer<T>();
  if (value)
    number = *value;
  else if (json.is_integer())
    reader.fail("is out of range: " + shown_json(json));
  else
    reader.fail("must be an integer", json);
}

template <class Tag, class T>
void read_json(JsonReader& reader, const JsonValue& json, Named<Tag, T>& id) {
  T value{};
  read_json(reader, json, value);
  if (std::is_signed_v<T> && value < T{})
    return reader.fail("must not be negative: " + shown_json(json));
  id = Named<Tag, T>{value};
}

/// Null gives an empty optional.
template <class T>
void read_json(JsonReader& reader, const JsonValue& json, std::optional<T>& maybe) {
  maybe.reset();
  if (!json.is_null()) read_json(reader, json, maybe.emplace());
}

/// Calls `each(element)` until there is an error.
template <class Each>
void read_elements(JsonReader& reader, const JsonValue& json, Each each) {
  const JsonValue::List* list = json.list();
  if (list == nullptr) return reader.fail("must be a list", json);
  for (std::size_t i = 0; i < list->size() && !reader.failed(); ++i) {
    const JsonReader::Step step(reader, i);
    each((*list)[i]);
  }
}

template <class T>
void read_json(JsonReader& reader, const JsonValue& json, std::vector<T>& list) {
  list.clear();
  read_elements(reader, json,
                [&](const JsonValue& one) { read_json(reader, one, list.emplace_back()); });
}

/// The members of the object that is being read.
class JsonMembers {
 public:
  /// Anything but an object is an error.
  JsonMembers(JsonReader& reader, const JsonValue& object);

  /// Null if there is no such member, and after an error.
  const JsonValue* find(std::string_view name);
  /// Like find(), but a missing member is an error.
  const JsonValue* needed(std::string_view name);

  template <class T>
  void read(std::string_view name, T& value) {
    use(name, needed(name), [&](const JsonValue& json) { read_json(reader_, json, value); });
  }
  template <class T>
  void read_if_any(std::string_view name, T& value) {
    use(name, find(name), [&](const JsonValue& json) { read_json(reader_, json, value); });
  }
  template <class T>
  T get(std::string_view name) {
    T value{};
    read(name, value);
    return value;
  }
  std::string text(std::string_view name) { return get<std::string>(name); }
  /// Empty for null.
  std::string text_or_null(std::string_view name);
  /// Calls `each(members of the element)` for each object of the list.
  template <class Each>
  void each(std::string_view name, Each each) {
    use(name, needed(name), [&](const JsonValue& json) {
      read_elements(reader_, json, [&](const JsonValue& element) {
        JsonMembers members(reader_, element);
        if (!reader_.failed()) each(members);
      });
    });
  }
  /// Calls `inner(members)` for the member, which is an object.
  template <class Inner>
  void object(std::string_view name, Inner inner) {
    use(name, needed(name), [&](const JsonValue& json) {
      JsonMembers members(reader_, json);
      if (!reader_.failed()) inner(members);
    });
  }

  std::vector<std::string> names() const;
  /// Notes an error at the member.
  void fail(std::string_view name, std::string reason);
  void fail(std::string_view name, std::string_view reason, const JsonValue& value);
  /// Refuses members that nobody asked for; `reason` says why.
  void end(std::string_view reason);

 private:
  template <class Use>
  void use(std::string_view name, const JsonValue* json, Use use) {
    if (json == nullptr) return;
    const JsonReader::Step step(reader_, name);
    use(*json);
  }

  JsonReader& reader_;
  const JsonValue& object_;
  std::vector<std::string_view> known_;  ///< names that were asked for
};

}  // namespace l4::serve
