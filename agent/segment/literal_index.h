// Which of hundreds of literals may stand in a message: one pass over it, whatever their number.
//
// agent/segment/rule_pack.cc asks it when a template is new, and tries only the rules it names. A
// literal is filed under those four bytes of it that fewest others have; the message's own four
// bytes at each place are looked up. One of less than four bytes may stand anywhere. Built once,
// then read by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace l4::segment {

class LiteralIndex {
 public:
  /// Number of the literal, from 0. Before build() only.
  std::uint32_t add(std::string_view literal);
  std::uint32_t size() const { return size_; }
  void build();

  /// By number; false where the literal is not in the message.
  std::vector<bool> may_hold(std::string_view message) const;

 private:
  struct Entry {
    std::uint32_t bytes = 0;  ///< the four
    std::uint32_t literal = 0;
  };

  std::uint32_t size_ = 0;
  std::vector<std::string> literals_;  // until build()
  std::vector<bool> short_;            // by literal: it is not filed
  std::vector<std::uint32_t> starts_;  // by slot: its first entry
  std::vector<Entry> entries_;
};

}  // namespace l4::segment
