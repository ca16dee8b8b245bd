// Finds which of thousands of literals a text contains, in one pass over the text.
//
// Flow: PatternSet asks for every template, and tries only the patterns whose literal was found.
// Each literal is indexed by those four of its bytes that the fewest other literals contain; the
// four bytes at each place of the text are looked up. Literals of less than four bytes are searched
// one by one: there should be few. Built once, then read by any thread. Texts are in plain form
// (literals.h).
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
  /// Bytes of a literal that index it.
  static constexpr std::size_t kBytes = 4;

  /// Adds a literal, which is not empty, and the owner that find() returns for it. Before build().
  void add(const std::string& literal, std::uint32_t owner);
  void build();

  /// Owners of the literals that `text` contains, ascending, each once.
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
    std::uint32_t offset = 0;  ///< of the four bytes in the literal
  };

  std::vector<Literal> literals_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< of literals; until build()
  std::vector<std::uint32_t> short_;                        ///< literals of less than four bytes
  std::vector<std::uint32_t> starts_;                       ///< by slot: its first entry
  std::vector<Entry> entries_;
};

}  // namespace l4::faults
