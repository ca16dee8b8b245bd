// Tells which of hundreds of literals a message may contain, in one pass over the message.
//
// RulePackSet::classify asks it for each new template, and tries only the rules whose literals may
// be there. Each literal is filed under the four of its bytes that fewest other literals share;
// each four bytes of the message are looked up. A literal of less than four bytes is never ruled
// out. Built once, then read by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace l4::segment {

class LiteralIndex {
 public:
  /// Adds a literal and returns its number, from 0. Only before build().
  std::uint32_t add(std::string_view literal);
  std::uint32_t size() const { return size_; }
  void build();

  /// By the literal's number: false if the literal is certainly not in the message.
  std::vector<bool> may_hold(std::string_view message) const;

 private:
  struct Entry {
    std::uint32_t bytes = 0;  ///< the four bytes that the literal is filed under
    std::uint32_t literal = 0;
  };

  std::uint32_t size_ = 0;
  std::vector<std::string> literals_;  // until build()
  std::vector<bool> short_;            // by literal: too short to be filed
  std::vector<std::uint32_t> starts_;  // by slot: its first entry
  std::vector<Entry> entries_;
};

}  // namespace l4::segment
