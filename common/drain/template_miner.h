// Per-node Drain: masked line -> memo -> fixed-depth tree -> template.
//
// Flow: agent/pipeline calls learn() for every record; a recall calls find(), which never learns.
// One instance per agent, used by one thread. Bounded by Options; evictions are counted. A repeated
// line costs one memo look-up, no allocation and no regex. The memo gives exactly the answers of
// the tree. The tree follows He et al., "Drain", ICWS 2017; frame_set.h describes lazy
// generalisation, codes.h the codes that are never masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/outline.h"

namespace l4::drain {

class CodeList;

struct Options {
  std::size_t templates_max = 20'000;
  std::size_t memo_entries_max = 200'000;
  const CodeList* codes = nullptr;  ///< codes that are never masked; null: the built-in list
};

/// The constant text of a kind of line.
struct LogTemplate {
  LocalTemplateId id;
  std::uint32_t generation = 0;  ///< grows whenever `text` or `skeletons` changes
  std::string text;              ///< words and `<*>`
  std::uint64_t count = 0;
  std::vector<Skeleton> skeletons;  ///< the 8 smallest of its lines, ascending
  std::optional<LocalTemplateId> alias_of;
};

struct TemplateMatch {
  LocalTemplateId id;
  Skeleton skeleton;
  bool created = false;  ///< the line is the first of a new template
  bool changed = false;  ///< the template's definition changed (created, generalised or merged)
};

struct Stats {
  std::uint64_t lines = 0, memo_hits = 0, evicted_templates = 0, evicted_memo = 0;
  std::uint64_t dropped_rows = 0;  ///< rows dropped from the tree for lack of room
  std::uint64_t by_half = 0;       ///< lines of a flood, see common/drain/flood.h
};

class TemplateMiner {
 public:
  explicit TemplateMiner(Options options = {});
  ~TemplateMiner();
  TemplateMiner(TemplateMiner&&) noexcept;
  TemplateMiner& operator=(TemplateMiner&&) noexcept;

  /// Learns `message` (decoded text without time and prefix) and returns its template. `alert`: the
  /// line is a warning or worse, which a flood must not mix with other lines. `outline`: the
  /// message's, if it is known; it spares masking lines that differ in digits alone.
  TemplateMatch learn(std::string_view message, bool alert = false, const Outline& outline = {});
  /// Prefetches the entry that learn() reads first for a line with this outline.
  void prefetch(const Outline& outline) const;
  /// The template that learn() would return; empty if it would create one.
  std::optional<LocalTemplateId> find(std::string_view message) const;

  /// The id of the template that an id stands for after all merges (follows alias_of).
  LocalTemplateId canonical(LocalTemplateId id) const;
  /// The template or alias of an id; without text if it was evicted.
  const LogTemplate& at(LocalTemplateId id) const;
  /// Releases everything that find() and canonical() do not need, and the templates' texts. Both
  /// answer as before; learn() must not be called again.
  void freeze();

  /// Ids whose definition has changed since the last call (aliases too), ascending.
  std::vector<LocalTemplateId> poll_changed();
  /// Ids of templates that were evicted since the last call, with all their aliases, ascending. The
  /// ids are never reused.
  std::vector<LocalTemplateId> poll_forgotten();
  /// Number of templates without aliases.
  std::size_t size() const;
  Stats stats() const;
  const CodeList& codes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Skeleton of a message: hash of the masked line before any generalisation.
Skeleton skeleton_of(std::string_view message);

/// True if two template texts pass the miner's own similarity rule (used to unify nodes' trees).
bool similar(std::string_view text_a, std::string_view text_b);

}  // namespace l4::drain
