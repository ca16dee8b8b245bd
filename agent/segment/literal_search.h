// Whether one message holds any of many literals: looked at once, asked hundreds of times.
//
// agent/segment/rule_pack.cc asks it for every literal of every pack when a template is new, and
// thousands of agents see the same new templates. A bit per pair of neighbouring bytes (hashed)
// says at once that most literals cannot be there. Views the message; no allocation.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>

namespace l4::segment {

class LiteralSearch {
 public:
  explicit LiteralSearch(std::string_view message) : message_(message) {
    for (std::size_t i = 0; i + 1 < message.size(); ++i) pairs_.set(place(message, i));
  }

  std::string_view message() const { return message_; }

  bool holds(std::string_view literal) const {
    for (std::size_t i = 0; i + 1 < literal.size(); ++i)
      if (!pairs_.test(place(literal, i))) return false;
    return message_.find(literal) != std::string_view::npos;
  }

 private:
  static constexpr std::size_t kPlaces = 4096;

  static std::size_t place(std::string_view text, std::size_t i) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto second = static_cast<unsigned char>(text[i + 1]);
    return (first * 37u + second) % kPlaces;
  }

  std::string_view message_;
  std::bitset<kPlaces> pairs_;
};

}  // namespace l4::segment
