// Reads what a class keeps on disk: the half of archive.h that load() uses.
// Has the calls of Writer. After the first missing or invalid value every further one is zero or
// empty; the caller asks ok() once. Never reads past the end, and reserves no more elements than
// can follow. The reader belongs to the caller. One thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/base/byte_stream.h"
#include "common/base/flat_table.h"

namespace l4::saved {

class Reader {
 public:
  static constexpr bool kLoads = true;
  explicit Reader(ByteReader& in) : in_(in) {}

  template <class... Values>
  void operator()(Values&... values) {
    (read(values), ...);
  }
  template <class Value>
  void word(Value& value) {
    value = Value{in_.word()};
  }
  template <class Enum>
  void enumerator(Enum& value, Enum last) {
    value = static_cast<Enum>(in_.byte());
    if (value <= last) return;
    in_.fail();
    value = Enum{};
  }
  void index(std::uint32_t& value) { value = in_.number32() - 1U; }
  template <class Value>
  void natural(std::optional<Value>& value) {
    const auto number = static_cast<std::int32_t>(in_.signed_number());
    value = number >= 0 ? std::optional(Value{number}) : std::nullopt;
  }

  template <class List, class Each>
  void list(List& values, std::size_t bytes_each, Each each) {
    values.clear();
    const std::size_t size = in_.count(bytes_each);
    if constexpr (requires { values.reserve(size); }) values.reserve(size);
    for (std::size_t i = 0; i < size && in_.ok(); ++i) each(values.emplace_back());
  }
  template <class Set, class Each>
  void set(Set& values, std::size_t bytes_each, Each each) {
    values.clear();
    for (std::size_t left = in_.count(bytes_each); left > 0 && in_.ok(); --left) {
      typename Set::value_type value{};
      each(value);
      values.insert(std::move(value));
    }
  }
  template <class Map, class OnKey, class OnValue>
  void map(Map& entries, std::size_t bytes_each, OnKey on_key, OnValue on_value) {
    entries.clear();
    for (std::size_t left = in_.count(bytes_each); left > 0 && in_.ok(); --left) {
      typename Map::key_type key{};
      on_key(key);
      const auto at = entries.try_emplace(std::move(key)).first;
      if constexpr (std::invocable<OnValue&, typename Map::mapped_type&,
                                   const typename Map::key_type&>) {
        on_value(at->second, at->first);
      } else {
        on_value(at->second);
      }
    }
  }
  template <class Map, class OnKey, class OnValue>
  void sorted_map(Map& entries, std::size_t bytes_each, OnKey on_key, OnValue on_value) {
    map(entries, bytes_each, on_key, on_value);
  }
  template <class Value, class OnValue>
  void table(FlatTable<Value>& entries, OnValue on_value) {
    for (std::size_t left = in_.count(sizeof(std::uint64_t)); left > 0 && in_.ok(); --left) {
      const std::uint64_t key = in_.word();
      Value value{};
      on_value(value);
      entries[key] = std::move(value);
    }
  }

  template <class Value, class... Beside>
  void part(Value& value, const Beside&... beside) {
    value.load(in_, beside...);
  }

  void require(bool condition) {
    if (!condition) in_.fail();
  }
  bool ok() const { return in_.ok(); }
  ByteReader& bytes() { return in_; }

 private:
  template <class Value>
  void read(Value& value) {
    if constexpr (std::same_as<Value, bool>) {
      value = in_.byte() != 0;
    } else if constexpr (std::same_as<Value, std::uint8_t>) {
      value = in_.byte();
    } else if constexpr (std::floating_point<Value>) {
      value = static_cast<Value>(in_.real());
    } else if constexpr (std::unsigned_integral<Value>) {
      if constexpr (sizeof(Value) > sizeof(std::uint32_t)) {
        value = in_.number();
      } else {
        value = static_cast<Value>(in_.number32());
      }
    } else if constexpr (std::signed_integral<Value>) {
      value = static_cast<Value>(in_.signed_number());
    } else if constexpr (std::same_as<Value, std::string>) {
      value = in_.text();
    } else if constexpr (requires { value.time_since_epoch(); }) {
      value = Value{typename Value::duration{in_.signed_number()}};
    } else if constexpr (requires { value.count(); }) {
      value = Value{in_.signed_number()};
    } else if constexpr (requires { value.has_value(); }) {
      value.reset();
      if (in_.byte() == 0) return;
      typename Value::value_type some{};
      read(some);
      value = std::move(some);
    } else {
      typename Value::value_type number{};
      read(number);
      value = Value{number};
    }
  }

  ByteReader& in_;
};

}  // namespace l4::saved
