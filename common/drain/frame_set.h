// Classes of frames: Drain's fixed-depth tree with lazy generalisation, independent of input order.
//
// A frame is a masked line whose soft tokens are raised (row.h). A leaf of the tree holds frames of
// the same length with the same first word at the same position. Rules within a leaf, applied until
// nothing changes: (1) frames that differ at one word alone become one class once enough distinct
// words stood there, and the class becomes a *pattern*, the join of its frames; (2) a pattern owns
// the frames it covers; (3) patterns that could cover a common frame are one class. Every rule only
// adds, so classes depend on the set of frames and not on their order, unlike those of Drain's
// greedy best match. Bounded by rows_max (dropped rows are counted); one thread.
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
  std::size_t rows_max = 400'000;  ///< rows, and rows generalised at one position
  unsigned values_min = 5;         ///< distinct values before a position is generalised
};

struct FramePattern {
  Row row;
  ClassId owner;
  Signature signature = Signature(row);
};

/// The part of a FrameSet that find() needs.
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
  /// The class of a row; a new class if no rule gives one. `pattern`: the row is a pattern already.
  ClassId insert(const Row& row, bool pattern = false);
  /// The class that insert() would return; empty if it would make a new one.
  std::optional<ClassId> find(const Row& row) const;

  /// Makes a class a pattern because its values vary; returns the class that it then belongs to.
  ClassId generalise(ClassId root);
  /// True if two patterns are one class, because both could cover a third row.
  static bool one_class(const Row& a, const Row& b);

  /// The join of all rows of a class, which is given by its root.
  Row joined(ClassId root) const { return classes_.at(root).joined.row(); }
  /// Merges since the last call, in order.
  std::vector<Merge> poll_merges();
  /// Drops classes (roots) with all their rows.
  void forget(const std::vector<ClassId>& sorted_roots);
  /// Returns the part that find() needs; the set is empty afterwards.
  FrozenFrames freeze();
  void save(ByteWriter& out) const;
  void load(ByteReader& in);  ///< replaces the set by a saved one
  std::uint64_t dropped_rows() const { return dropped_rows_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// One row, or all rows that differ at one position alone; the key is the hash of that row, or of
  /// the rows generalised there.
  struct Node {
    ClassId row_class = kNone;    ///< class of the row itself, if it was inserted
    std::uint32_t first = kNone;  ///< class of the single value, or index of the first value
    std::uint32_t value = 0;      ///< the single value
    std::uint16_t weight = 0;     ///< weight of the values, until `fired`
    bool fired = false;
    bool absorbed = false;  ///< a pattern covered the row when it was inserted
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
    std::uint64_t general = 0;  ///< positions (below 64) at which a covering pattern is wider
  };
  struct Hole {
    std::size_t position;  ///< position at which a row is generalised
    std::uint64_t key;
  };
  /// A class without a pattern, which has a single frame.
  struct Literal {
    Signature signature;
    ClassId id;
  };
  /// Classes whose frames agree in length, and in position and text of their first word.
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
  std::unordered_map<ClassId, ClassId> parents_;  // parent of each merged id, until compact()
  std::unordered_map<std::uint64_t, Leaf> leaves_;
  std::vector<Pending> pending_;  // rows to contribute
  std::vector<Hole> holes_;       // scratch of contribute()
  std::vector<ClassId> grown_;    // patterns that became more general
  std::vector<Merge> merges_;
  ClassId next_ = 0;
  std::uint64_t dropped_rows_ = 0;
};

}  // namespace l4::drain
