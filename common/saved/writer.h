// Writes what a class keeps on disk: the half of archive.h that save() uses.
//
// Has the calls of Reader, so that one list of members serves both. The writer belongs to the
// caller. One thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/base/flat_table.h"

namespace l4::saved {

class Writer {
 public:
  static constexpr bool kLoads = false;
  explicit Writer(ByteWriter& out) : out_(out) {}

  template <class... Values>
  void operator()(const Values&... values) {
    (write(values), ...);
  }
  /// Writes a hash, as 8 bytes.
  template <class Value>
  void word(const Value& value) {
    if constexpr (std::integral<Value>) {
      out_.word(value);
    } else {
      out_.word(value.value());
    }
  }
  /// `last`: the largest enumerator; a reader fails beyond it.
  template <class Enum>
  void enumerator(Enum value, Enum /*last*/) {
    out_.byte(static_cast<std::uint8_t>(value));
  }
  /// An index whose largest value means "none", which is stored as 0.
  void index(std::uint32_t value) { out_.number(value + 1U); }
  /// Writes a number that is never negative; an empty value is stored as -1.
  template <class Value>
  void natural(const std::optional<Value>& value) {
    if constexpr (std::integral<Value>) {
      out_.signed_number(value.value_or(-1));
    } else {
      out_.signed_number(value ? value->value() : -1);
    }
  }

  /// `each` is called with every element; each has at least `bytes_each` bytes.
  template <class List, class Each>
  void list(const List& values, std::size_t /*bytes_each*/, Each each) {
    out_.number(values.size());
    for (const auto& value : values) each(value);
  }
  template <class Set, class Each>
  void set(const Set& values, std::size_t bytes_each, Each each) {
    list(values, bytes_each, each);
  }
  /// Calls for each entry `key(key)`, then `value(value)` or `value(value, key)`.
  template <class Map, class OnKey, class OnValue>
  void map(const Map& entries, std::size_t /*bytes_each*/, OnKey on_key, OnValue on_value) {
    out_.number(entries.size());
    for (const auto& [key, value] : entries) {
      on_key(key);
      call(on_value, value, key);
    }
  }
  /// Writes a map without an order ascending by key, so that equal maps are equal bytes.
  template <class Map, class OnKey, class OnValue>
  void sorted_map(const Map& entries, std::size_t /*bytes_each*/, OnKey on_key, OnValue on_value) {
    std::vector<const typename Map::value_type*> sorted;
    sorted.reserve(entries.size());
    for (const auto& entry : entries) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, [](const auto* entry) { return entry->first; });
    out_.number(sorted.size());
    for (const auto* entry : sorted) {
      on_key(entry->first);
      call(on_value, entry->second, entry->first);
    }
  }
  template <class Value, class OnValue>
  void table(const FlatTable<Value>& entries, OnValue on_value) {
    out_.number(entries.size());
    entries.for_each_entry([&](std::uint64_t key, const Value& value) {
      out_.word(key);
      on_value(value);
    });
  }

  /// A member that has a save() and a load() of its own; `beside` is for its load().
  template <class Value, class... Beside>
  void part(const Value& value, const Beside&... /*beside*/) {
    value.save(out_);
  }

  /// A value that a reader must find; a writer writes it.
  void require(bool /*condition*/) {}
  bool ok() const { return true; }
  ByteWriter& bytes() { return out_; }

 private:
  template <class OnValue, class Value, class Key>
  static void call(OnValue& on_value, const Value& value, const Key& key) {
    if constexpr (std::invocable<OnValue&, const Value&, const Key&>) {
      on_value(value, key);
    } else {
      on_value(value);
    }
  }
  template <class Value>
  void write(const Value& value) {
    if constexpr (std::same_as<Value, bool>) {
      out_.byte(value ? 1 : 0);
    } else if constexpr (std::same_as<Value, std::uint8_t>) {
      out_.byte(value);
    } else if constexpr (std::floating_point<Value>) {
      out_.real(static_cast<double>(value));
    } else if constexpr (std::unsigned_integral<Value>) {
      out_.number(value);
    } else if constexpr (std::signed_integral<Value>) {
      out_.signed_number(value);
    } else if constexpr (std::same_as<Value, std::string>) {
      out_.text(value);
    } else if constexpr (requires { value.time_since_epoch(); }) {
      out_.signed_number(value.time_since_epoch().count());
    } else if constexpr (requires { value.count(); }) {
      out_.signed_number(value.count());
    } else if constexpr (requires { value.has_value(); }) {
      out_.byte(value ? 1 : 0);
      if (value) write(*value);
    } else {
      write(value.value());
    }
  }

  ByteWriter& out_;
};

}  // namespace l4::saved
