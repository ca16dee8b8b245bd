// Which of thousands of literals stand in a text: one pass over it, whatever their number.
//
// Flow: Library asks it for every template, and tries only the patterns whose literal was found.
// Each literal is filed under those four bytes of it that fewest others have; the text's own four
// bytes at each place are looked up. One of less than four bytes is searched for by itself: there
// should be few. Built once, then read by any thread. Texts are in plain form (literals.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace l4::faults {

class LiteralIndex {
 public:
  /// Bytes of a literal that it is filed under.
  static constexpr std::size_t kBytes = 4;

  /// `owner` wants to know of `literal`, which must not be empty. Before build() only.
  void add(const std::string& literal, std::uint32_t owner);
  void build();

  /// Owners of the literals that stand in `text`, ascending, each once.
  std::vector<std::uint32_t> find(std::string_view text) const;

  std::size_t literals() const { return literals_.size(); }

 private:
  struct Literal {
    std::string text;
    std::vector<std::uint32_t> owners;
  };
  struct Entry {
    std::uint32_t bytes = 0;  ///< the four
    std::uint32_t literal = 0;
    std::uint32_t offset = 0;  ///< where in the literal they stand
  };

  std::vector<Literal> literals_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< of literals; until build()
  std::vector<std::uint32_t> short_;                        ///< literals of less than four bytes
  std::vector<std::uint32_t> starts_;                       ///< by slot: its first entry
  std::vector<Entry> entries_;
};

}  // namespace l4::faults
