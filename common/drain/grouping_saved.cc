// Saves and loads Grouping and FrameSet: every container, as it is between two calls.
#include <utility>

#include "common/drain/grouping.h"
#include "common/drain/row_saved.h"

namespace l4::drain {

void save(ByteWriter& out, const Row& row) {
  out.number(row.size());
  for (const Token& token : row) out.text(token.bytes);
}

Row load_row(ByteReader& in) {
  Row row;
  const std::size_t size = in.count();
  row.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    row.emplace_back(in.text());
    if (!row.back().bytes.empty()) continue;
    in.fail();  // no token is empty
    return {};
  }
  return row;
}

void FrameSet::save(ByteWriter& out) const {
  drain::save(out, nodes_, [](ByteWriter& to, const Node& node) {
    to.number(node.row_class + 1U);  // kNone becomes 0
    to.number(node.first + 1U);
    to.number(node.weight);
    if (node.weight == 1) to.number(node.value);
    to.byte(static_cast<std::uint8_t>((node.fired ? 1 : 0) | (node.absorbed ? 2 : 0)));
  });
  out.number(values_.size());
  for (const Value& value : values_) {
    out.number(value.value);
    out.number(value.owner);
    out.number(value.next + 1U);
  }
  out.number(free_value_ + 1U);
  out.number(classes_.size());
  for (const auto& [id, known] : classes_) {
    out.number(id);
    drain::save(out, known.joined.row());
    out.byte(known.pattern ? 1 : 0);
  }
  out.number(parents_.size());
  for (const auto& [id, parent] : parents_) {
    out.number(id);
    out.number(parent);
  }
  out.number(leaves_.size());
  for (const auto& [key, leaf] : leaves_) {
    out.word(key);
    out.number(leaf.patterns.size());
    for (const FramePattern& pattern : leaf.patterns) {
      drain::save(out, pattern.row);
      out.number(pattern.owner);
    }
    out.number(leaf.literals.size());
    for (const Literal& literal : leaf.literals) out.number(literal.id);
  }
  out.number(next_);
  out.number(dropped_rows_);
}

void FrameSet::load(ByteReader& in) {
  *this = FrameSet(options_);
  drain::load(in, nodes_, [](ByteReader& from) {
    Node node;
    node.row_class = from.number32() - 1U;
    node.first = from.number32() - 1U;
    node.weight = static_cast<std::uint16_t>(from.number32());
    if (node.weight == 1) node.value = from.number32();
    const std::uint8_t flags = from.byte();
    node.fired = (flags & 1) != 0;
    node.absorbed = (flags & 2) != 0;
    return node;
  });
  const std::size_t values = in.count(3);
  values_.reserve(values);
  for (std::size_t i = 0; i < values; ++i) {
    const std::uint32_t value = in.number32(), owner = in.number32();
    values_.push_back({value, owner, in.number32() - 1U});
  }
  free_value_ = in.number32() - 1U;
  for (std::size_t left = in.count(3); left > 0; --left) {
    const ClassId id = in.number32();
    const Row joined = load_row(in);
    classes_.insert_or_assign(id, Class{PackedRow(joined), in.byte() != 0});
  }
  for (std::size_t left = in.count(2); left > 0; --left) {
    const ClassId id = in.number32();
    parents_[id] = in.number32();
  }
  for (std::size_t left = in.count(10); left > 0; --left) {
    Leaf& leaf = leaves_[in.word()];
    for (std::size_t patterns = in.count(2); patterns > 0; --patterns) {
      Row row = load_row(in);
      const Signature signature(row);
      leaf.patterns.push_back({std::move(row), in.number32(), signature});
    }
    for (std::size_t literals = in.count(1); literals > 0; --literals) {
      const ClassId id = in.number32();
      const auto known = classes_.find(id);  // missing if the class was merged or became a pattern
      if (known != classes_.end() && !known->second.pattern)
        leaf.literals.push_back({Signature(known->second.joined.row()), id});
    }
  }
  next_ = in.number32();
  dropped_rows_ = in.number();
}

void Grouping::save(ByteWriter& out) const {
  frames_.save(out);
  out.number(variants_.size());
  for (const auto& [owner, known] : variants_) {
    out.number(owner);
    out.number(known.positions.size());
    for (const Position& position : known.positions) {
      out.byte(position.open ? 1 : 0);
      out.number(position.weight);
      out.word(position.first);
    }
    out.number(known.others.size());
    for (const OtherValue& other : known.others) {
      out.number(other.position);
      out.word(other.id);
    }
    out.number(known.groups.size());
    for (const auto& [projection, id] : known.groups) {
      out.word(projection);
      out.number(id);
    }
  }
  out.number(groups_.size());
  for (const auto& [id, group] : groups_) {
    out.number(id);
    drain::save(out, group.row.row());
    out.number(group.owner);
  }
  out.number(next_);
}

void Grouping::load(ByteReader& in) {
  *this = Grouping(options_);
  frames_.load(in);
  for (std::size_t left = in.count(3); left > 0; --left) {
    Variants& known = variants_[in.number32()];
    known.positions.resize(in.count(10));
    for (Position& position : known.positions) {
      position.open = in.byte() != 0;
      position.weight = in.number32();
      position.first = in.word();
    }
    known.others.resize(in.count(9));
    for (OtherValue& other : known.others) {
      other.position = in.number32();
      other.id = in.word();
      if (other.position >= known.positions.size()) in.fail();
    }
    for (std::size_t groups = in.count(9); groups > 0; --groups) {
      const std::uint64_t projection = in.word();
      known.groups[projection] = in.number32();
    }
  }
  for (std::size_t left = in.count(3); left > 0; --left) {
    const GroupId id = in.number32();
    const Row row = load_row(in);
    groups_.insert_or_assign(id, Group{PackedRow(row), in.number32()});
  }
  next_ = in.number32();
}

}  // namespace l4::drain
