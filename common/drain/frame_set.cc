#include "common/drain/frame_set.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace l4::drain {
namespace {

bool compatible(const Row& a, const Row& b) {
  return a.size() == b.size() && std::ranges::equal(a, b, [](const Token& x, const Token& y) {
           return covers(x, y) || covers(y, x);
         });
}

/// Index of the first word; the length if there is none.
std::size_t anchor_of(const Row& row) {
  return static_cast<std::size_t>(std::ranges::find_if(row, is_word) - row.begin());
}

/// Key of a leaf of the tree: length, position of the first word, the word itself.
std::uint64_t leaf_of(const Row& row) {
  const std::size_t anchor = anchor_of(row);
  const std::uint64_t word = anchor < row.size() ? placed(row[anchor].id, anchor) : 0;
  return fold(word + row.size(), kHashA);
}

const FramePattern* first_covering(const std::vector<FramePattern>& patterns, const Row& row) {
  const Signature signature(row);
  const auto found = std::ranges::find_if(patterns, [&](const FramePattern& pattern) {
    return pattern.signature.may_cover(signature) && covers(pattern.row, row);
  });
  return found != patterns.end() ? &*found : nullptr;
}

}  // namespace

ClassId FrameSet::insert(const Row& row, bool pattern) {
  if (const Node* node = nodes_.find(hash(row)); node != nullptr && node->row_class != kNone) {
    if (!pattern || node->fired) return root(node->row_class);
  }
  if (nodes_.size() >= options_.rows_max) make_room();
  if (parents_.size() >= options_.rows_max / 4) compact();
  ClassId owner = add_row(row, pattern);
  apply_rules();
  return root(owner);
}

/// Applies the rules until nothing changes.
void FrameSet::apply_rules() {
  while (!pending_.empty() || !grown_.empty()) {
    if (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      contribute(next);
    } else {
      const ClassId next = root(grown_.back());
      grown_.pop_back();
      spread(next);
    }
  }
}

ClassId FrameSet::generalise(ClassId root) {
  const Class& known = classes_.at(root);
  if (known.pattern) return root;
  const Row row = known.joined.row();
  return words_of(row) == 0 ? root : insert(row, true);
}

std::optional<ClassId> FrameSet::find(const Row& row) const {
  if (const Node* node = nodes_.find(hash(row)); node != nullptr && node->row_class != kNone) {
    return root(node->row_class);
  }
  if (const FramePattern* pattern = covering(row); pattern != nullptr) return root(pattern->owner);
  return std::nullopt;
}

ClassId FrameSet::add_row(const Row& row, bool pattern) {
  const std::uint64_t key = hash(row);
  Node& node = nodes_[key];
  ClassId owner = node.row_class;
  if (owner == kNone) {
    std::uint64_t general = 0;
    if (const FramePattern* cover = covering(row); cover != nullptr) {
      owner = root(cover->owner);
      node.absorbed = true;
      for (std::size_t i = 0; i < std::min<std::size_t>(row.size(), 64); ++i)
        if (!(cover->row[i] == row[i])) general |= std::uint64_t{1} << i;
    } else {
      owner = next_++;
      classes_.emplace(owner, Class{PackedRow(row)});
      if (!pattern) leaves_[leaf_of(row)].literals.push_back({Signature(row), owner});
    }
    node.row_class = owner;
    pending_.push_back({row, owner, general});
  }
  if (pattern && !node.fired) {
    node.fired = true;
    make_pattern(root(owner), row);
  }
  return owner;
}

const FramePattern* FrameSet::covering(const Row& row) const {
  const auto leaf = leaves_.find(leaf_of(row));
  return leaf == leaves_.end() ? nullptr : first_covering(leaf->second.patterns, row);
}

/// Offers the row to every pattern that would generalise one of its positions, except where a
/// covering pattern is wider already, because a new pattern would change nothing there. The entries
/// are far apart in a table that may exceed the caches, so all are prefetched before the first is
/// read.
void FrameSet::contribute(const Pending& next) {
  const auto& [row, owner, wide] = next;
  const std::uint64_t sum = hash(row);
  const std::size_t words = words_of(row);
  const std::size_t anchor = anchor_of(row);
  holes_.clear();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i < 64 && (wide >> i & 1) != 0) continue;
    if (i == anchor || row[i].wild() || is_code(row[i]) || is_record_name(row, i)) continue;
    const Token up = parent(row[i]);
    const std::size_t left = words - (is_word(row[i]) && !is_word(up) ? 1 : 0);
    if (!has_enough_words(left, row.size())) continue;
    holes_.push_back({i, sum - placed(row[i].id, i) + placed(up.id, i)});
    nodes_.prefetch(holes_.back().key);
  }
  for (const Hole& hole : holes_) offer(row, hole.position, hole.key, owner);
}

void FrameSet::offer(const Row& row, std::size_t position, std::uint64_t key, ClassId owner) {
  Node& node = nodes_[key];
  if (node.fired) {
    unite(owner, node.row_class);
    return;
  }
  const auto value = static_cast<std::uint32_t>(row[position].id >> 32);
  if (node.weight == 0) {
    node.value = value;
    node.first = owner;
  } else if (node.weight == 1) {
    if (node.value == value) return;
    node.first = chain({node.value, node.first, kNone});
    node.first = chain({value, owner, node.first});
  } else {
    for (std::uint32_t at = node.first; at != kNone; at = values_[at].next) {
      if (values_[at].value == value) return;
    }
    node.first = chain({value, owner, node.first});
  }
  if (++node.weight < options_.values_min) return;
  Row general = row;
  general[position] = parent(row[position]);
  fire(node, std::move(general), owner);
}

/// Adds the value to values_; returns its index.
std::uint32_t FrameSet::chain(const Value& value) {
  if (free_value_ == kNone) {
    values_.push_back(value);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  const std::uint32_t slot = free_value_;
  free_value_ = values_[slot].next;
  values_[slot] = value;
  return slot;
}

void FrameSet::fire(Node& node, Row row, ClassId owner) {
  owner = root(owner);
  if (node.row_class != kNone) owner = unite(owner, node.row_class);
  drop_values(node, [&](const Value& value) {
    owner = unite(owner, value.owner);
    return true;
  });
  const bool known = node.row_class != kNone;
  node.row_class = owner;
  node.fired = true;
  make_pattern(owner, row);
  if (!known) pending_.push_back({std::move(row), owner, 0});
}

void FrameSet::make_pattern(ClassId root, const Row& row) {
  Class& owner = classes_.at(root);
  owner.joined = PackedRow(join(owner.joined.row(), row));
  owner.pattern = true;
  grown_.push_back(root);
}

/// Unites a pattern with the frames that it covers and with compatible patterns.
void FrameSet::spread(ClassId id) {
  const Row row = classes_.at(id).joined.row();
  if (!classes_.at(id).pattern || words_of(row) == 0) return;
  const Signature signature(row);
  Leaf& leaf = leaves_[leaf_of(row)];
  std::erase_if(leaf.patterns, [&](const FramePattern& other) {
    if (!signature.may_meet(other.signature)) return false;
    if (root(other.owner) == root(id)) return covers(row, other.row);
    if (!compatible(row, other.row)) return false;
    unite(id, other.owner);
    return covers(row, other.row);
  });
  leaf.patterns.push_back({row, root(id), signature});
  std::erase_if(leaf.literals, [&](const Literal& literal) {
    if (!signature.may_cover(literal.signature)) return false;
    const auto known = classes_.find(literal.id);  // missing if the class was merged
    if (known == classes_.end() || known->second.pattern) return true;
    if (!known->second.joined.covered_by(row)) return false;
    absorb(id, literal.id);
    return true;
  });
}

ClassId FrameSet::root(ClassId id) const {
  for (auto found = parents_.find(id); found != parents_.end(); found = parents_.find(id)) {
    id = found->second;
  }
  return id;
}

ClassId FrameSet::unite(ClassId a, ClassId b) {
  a = root(a);
  b = root(b);
  if (a == b) return a;
  if (b < a) std::swap(a, b);
  Class& kept = classes_.at(a);
  const Class& merged = classes_.at(b);
  const Row wide = kept.joined.row(), other = merged.joined.row();
  const Row joined = join(wide, other);
  const bool spread_already =
      (kept.pattern && joined == wide) || (merged.pattern && joined == other);
  kept.joined = PackedRow(joined);
  kept.pattern = kept.pattern || merged.pattern;
  if (kept.pattern && !spread_already) grown_.push_back(a);
  classes_.erase(b);
  parents_[b] = a;
  merges_.push_back({b, a});
  return a;
}

/// Like unite(), for a literal that the pattern already covers: the pattern does not grow.
void FrameSet::absorb(ClassId pattern, ClassId literal) {
  pattern = root(pattern);
  const auto [to, from] = std::minmax(pattern, literal);
  if (to == literal) classes_.at(to) = std::move(classes_.at(from));
  classes_.erase(from);
  parents_[from] = to;
  merges_.push_back({from, to});
}

template <class Drop>
void FrameSet::drop_values(Node& node, Drop drop) {
  if (node.weight == 1) {
    if (!drop(Value{node.value, node.first, kNone})) return;
    node.first = kNone;
    node.weight = 0;
  }
  if (node.weight < 2) return;
  std::uint32_t* link = &node.first;
  while (*link != kNone) {
    const std::uint32_t at = *link;
    if (!drop(values_[at])) {
      link = &values_[at].next;
      continue;
    }
    *link = values_[at].next;
    values_[at].next = free_value_;
    free_value_ = at;
    --node.weight;
  }
  if (node.weight != 1) return;
  const std::uint32_t last = std::exchange(node.first, values_[node.first].owner);
  node.value = values_[last].value;
  values_[last].next = std::exchange(free_value_, last);
}

/// Drops the rows that are cheapest to learn again: covered rows and holes with a single value,
/// then all holes.
void FrameSet::make_room() {
  const auto drop_all = [](const Value&) { return true; };
  for (const unsigned weight_min : {2U, options_.values_min}) {
    if (nodes_.size() * 4 < options_.rows_max * 3) return;
    dropped_rows_ += nodes_.keep_if([&](Node& node) {
      if (node.fired || (node.row_class != kNone && !node.absorbed)) return true;
      if (node.row_class == kNone && node.weight >= weight_min) return true;
      drop_values(node, drop_all);
      return false;
    });
  }
}

/// Replaces merged ids by their roots everywhere, so that parents_ can be cleared.
void FrameSet::compact() {
  nodes_.for_each([&](Node& node) {
    if (node.row_class != kNone) node.row_class = root(node.row_class);
    if (node.weight == 1) node.first = root(node.first);
    if (node.weight < 2) return;
    for (std::uint32_t at = node.first; at != kNone; at = values_[at].next)
      values_[at].owner = root(values_[at].owner);
  });
  for (auto& [key, leaf] : leaves_) {
    for (FramePattern& pattern : leaf.patterns) pattern.owner = root(pattern.owner);
    std::erase_if(leaf.literals,
                  [&](const Literal& literal) { return parents_.contains(literal.id); });
  }
  parents_.clear();
}

void FrameSet::forget(const std::vector<ClassId>& sorted_roots) {
  compact();
  const auto dead = [&](ClassId id) { return std::ranges::binary_search(sorted_roots, id); };
  nodes_.keep_if([&](Node& node) {
    const bool row_dead = node.row_class != kNone && dead(node.row_class);
    drop_values(node, [&](const Value& value) { return row_dead || dead(value.owner); });
    return !row_dead && (node.row_class != kNone || node.weight > 0);
  });
  for (auto& [key, leaf] : leaves_) {
    std::erase_if(leaf.patterns, [&](const FramePattern& pattern) { return dead(pattern.owner); });
    std::erase_if(leaf.literals, [&](const Literal& literal) { return dead(literal.id); });
  }
  std::erase_if(leaves_, [](const auto& entry) {
    return entry.second.patterns.empty() && entry.second.literals.empty();
  });
  for (const ClassId id : sorted_roots) classes_.erase(id);
}

FrozenFrames FrameSet::freeze() {
  compact();
  std::vector<std::pair<std::uint64_t, ClassId>> rows;
  nodes_.for_each_entry([&](std::uint64_t key, const Node& node) {
    if (node.row_class != kNone) rows.emplace_back(key, node.row_class);
  });
  FrozenFrames frozen{SortedTable(std::move(rows)), {}};
  for (auto& [key, leaf] : leaves_)
    if (!leaf.patterns.empty()) frozen.patterns.emplace(key, std::move(leaf.patterns));
  *this = FrameSet(options_);
  return frozen;
}

std::optional<ClassId> FrozenFrames::find(const Row& row) const {
  if (const ClassId* known = rows.find(hash(row)); known != nullptr) return *known;
  const auto leaf = patterns.find(leaf_of(row));
  if (leaf == patterns.end()) return std::nullopt;
  const FramePattern* pattern = first_covering(leaf->second, row);
  return pattern != nullptr ? std::optional(pattern->owner) : std::nullopt;
}

bool FrameSet::one_class(const Row& a, const Row& b) {
  return words_of(a) > 0 && leaf_of(a) == leaf_of(b) && compatible(a, b);
}

std::vector<FrameSet::Merge> FrameSet::poll_merges() {
  return std::exchange(merges_, {});
}

}  // namespace l4::drain
