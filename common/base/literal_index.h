// Finds which of thousands of literals a text holds, in one pass over it, whatever their number.
// Flow: the fault library and the rule packs ask it for every template and try only the patterns
// and rules that it names. A literal is filed under the four of its bytes that the fewest other
// literals share. The four bytes at each position of the text are looked up, first in a table that
// fits the nearest cache. Literals of two and three bytes are filed under their first two.
// docs/adr/0012 compares it with Vectorscan. Built once, then read by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace l4 {

class LiteralIndex {
 public:
  /// Looking up literals with fewer bytes costs more.
  static constexpr std::size_t kBytes = 4;

  /// `find` returns `owner` for texts that hold the literal; every text holds an empty one. Call
  /// before build().
  void add(std::string_view literal, std::uint32_t owner);
  void build();

  /// Owners of the literals that stand in `text`, ascending, each once.
  std::vector<std::uint32_t> find(std::string_view text) const;

 private:
  struct Literal {
    std::string text;
    std::vector<std::uint32_t> owners;
  };
  struct Entry {
    std::uint32_t bytes = 0;  ///< four bytes of the literal, or two of a short one
    std::uint32_t literal = 0;
    std::uint32_t offset = 0;  ///< their offset in the literal
  };
  /// Entries by a hash of their bytes.
  struct Table {
    void build(std::vector<Entry> all);
    /// Calls `found` with each entry whose `Bytes` stand in the text, and with their position.
    template <class Bytes, class Found>
    void each(std::string_view text, Found found) const;

    std::vector<std::uint8_t> used;     ///< by slot: whether it has entries
    std::vector<std::uint32_t> starts;  ///< by slot: its first entry
    std::vector<Entry> entries;
  };

  std::vector<Literal> literals_;
  /// Numbers of the literals; until build().
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint32_t> searched_;  ///< literals that are filed nowhere
  Table long_, short_;
};

}  // namespace l4
