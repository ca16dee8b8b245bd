// Which frames are one class: Drain's fixed-depth tree with lazy generalisation, as a set function.
//
// A frame is a masked line whose soft tokens are raised (row.h). Leaves of the tree: length, place
// of the first word, that word. Rules within a leaf, applied until nothing changes: (1) frames that
// differ at one word alone become one class once enough distinct words stood there, and the class
// becomes a *pattern*, the join of its frames; (2) a pattern owns the frames it covers; (3)
// patterns that could cover a common frame are one class. Every rule only adds, so classes depend
// on the set of frames and not on their order, unlike those of Drain's greedy best match. Bounded
// by rows_max (what is dropped is counted); one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/base/flat_table.h"
#include "common/drain/row.h"
#include "common/drain/signature.h"
#include "common/drain/sorted_table.h"

namespace l4::drain {

using ClassId = std::uint32_t;

struct FrameSetOptions {
  std::size_t rows_max = 400'000;  ///< rows and rows with a hole
  unsigned values_min = 5;         ///< distinct values before a position is generalised
};

struct FramePattern {
  Row row;
  ClassId owner;
  Signature signature = Signature(row);
};

/// What FrameSet::find() needs, and no more.
struct FrozenFrames {
  std::optional<ClassId> find(const Row& row) const;

  SortedTable<std::uint64_t, ClassId> rows;                               // by hash
  std::unordered_map<std::uint64_t, std::vector<FramePattern>> patterns;  // by leaf
};

class FrameSet {
 public:
  struct Merge {
    ClassId from;
    ClassId to;  ///< the smaller
  };

  explicit FrameSet(FrameSetOptions options) : options_(options) {}
  /// Class of a row, a new one if no rule gives one. `pattern`: the row is known to be generalised.
  ClassId insert(const Row& row, bool pattern = false);
  /// Class that insert() would give without a new one.
  std::optional<ClassId> find(const Row& row) const;

  /// Makes a class a pattern that shows values of its own; returns the class it then belongs to.
  ClassId generalise(ClassId root);
  /// True if two rows, seen as patterns, are one class: a third could be covered by both.
  static bool one_class(const Row& a, const Row& b);

  /// Join of all rows of a class (of its root).
  Row joined(ClassId root) const { return classes_.at(root).joined.row(); }
  /// Merges since the last call, in order.
  std::vector<Merge> poll_merges();
  /// Drops classes (roots) and everything known of them.
  void forget(const std::vector<ClassId>& sorted_roots);
  /// Hands out what find() needs; the set is empty afterwards.
  FrozenFrames freeze();
  void save(ByteWriter& out) const;
  void load(ByteReader& in);  ///< what save() wrote; nothing stays of what was
  std::uint64_t dropped_rows() const { return dropped_rows_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A row, or all rows that differ at one position: known by the hash of the generalised row.
  struct Node {
    ClassId row_class = kNone;    ///< if the row itself is known
    std::uint32_t first = kNone;  ///< a single value: its owner; several: their chain
    std::uint32_t value = 0;      ///< the single one
    std::uint16_t weight = 0;     ///< values, while the pattern has not fired
    bool fired = false;
    bool absorbed = false;  ///< the row was covered when it came
  };
  struct Value {
    std::uint32_t value;
    ClassId owner;
    std::uint32_t next;
  };
  struct Class {
    PackedRow joined;
    bool pattern = false;  ///< owns a pattern, which then covers all its frames
  };
  struct Pending {
    Row row;
    ClassId owner;
    std::uint64_t general = 0;  ///< places (below 64) where a pattern that covers the row is wider
  };
  struct Hole {
    std::size_t position;  ///< of a row, generalised there
    std::uint64_t key;
  };
  /// A class without a pattern: it has a single frame.
  struct Literal {
    Signature signature;
    ClassId id;
  };
  /// Classes whose frames agree in length, in the place of their first word, and in that word.
  struct Leaf {
    std::vector<FramePattern> patterns;
    std::vector<Literal> literals;
  };

  ClassId root(ClassId id) const;
  ClassId unite(ClassId a, ClassId b);
  void absorb(ClassId pattern, ClassId literal);
  const FramePattern* covering(const Row& row) const;
  ClassId add_row(const Row& row, bool pattern);
  void contribute(const Pending& next);
  void offer(const Row& row, std::size_t position, std::uint64_t key, ClassId owner);
  void fire(Node& node, Row row, ClassId owner);
  std::uint32_t chain(const Value& value);
  void make_pattern(ClassId root, const Row& row);
  void apply_rules();
  void spread(ClassId id);
  void make_room();
  void compact();
  template <class Drop>
  void drop_values(Node& node, Drop drop);

  FrameSetOptions options_;
  FlatTable<Node> nodes_;
  std::vector<Value> values_;
  std::uint32_t free_value_ = kNone;
  std::unordered_map<ClassId, Class> classes_;    // roots
  std::unordered_map<ClassId, ClassId> parents_;  // merged ids, until swept
  std::unordered_map<std::uint64_t, Leaf> leaves_;
  std::vector<Pending> pending_;  // rows to offer
  std::vector<Hole> holes_;       // of contribute()
  std::vector<ClassId> grown_;    // patterns that became more general
  std::vector<Merge> merges_;
  ClassId next_ = 0;
  std::uint64_t dropped_rows_ = 0;
};

}  // namespace l4::drain
