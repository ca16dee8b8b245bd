// Per-node Drain: masked line -> memo -> fixed-depth tree -> template (design.md 3, algorithms.md
// 1).
//
// Flow: agent/segment calls learn() for every record; agent/recall calls find(), which never
// learns. One instance per agent, used by one thread. Bounded by Options; what is evicted is
// counted. A repeated line costs one memo look-up, no allocation and no regex. The memo answers
// exactly as the tree would. Source of the tree: He et al., "Drain", ICWS 2017; lazy
// generalisation and codes that are never masked: algorithms.md 1.
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
  const CodeList* codes = nullptr;  ///< what is never masked; null: the list that is compiled in
};

/// The constant text of a kind of line.
struct LogTemplate {
  LocalTemplateId id;
  std::uint32_t generation = 0;  ///< grows whenever `text` or `skeletons` changes
  std::string text;              ///< words and `<*>`
  std::uint64_t count = 0;
  std::vector<Skeleton> skeletons;  ///< the 8 smallest absorbed, ascending
  std::optional<LocalTemplateId> alias_of;
};

struct TemplateMatch {
  LocalTemplateId id;
  Skeleton skeleton;
  bool created = false;  ///< first line of a new template
  bool changed = false;  ///< the template's definition changed (created, generalised or merged)
};

struct Stats {
  std::uint64_t lines = 0, memo_hits = 0, evicted_templates = 0, evicted_memo = 0;
  std::uint64_t dropped_rows = 0;  ///< evidence for generalisation forgotten for lack of room
  std::uint64_t by_half = 0;       ///< lines of a flood, see common/drain/flood.h
};

class TemplateMiner {
 public:
  explicit TemplateMiner(Options options = {});
  ~TemplateMiner();
  TemplateMiner(TemplateMiner&&) noexcept;
  TemplateMiner& operator=(TemplateMiner&&) noexcept;

  /// Template of `message` (decoded text, no time and no prefix), learning from it. `alert`: the
  /// line is a warning or more, so that no flood may hide it among others. `outline` of it, if that
  /// is known: spares masking lines that differ in digits alone.
  TemplateMatch learn(std::string_view message, bool alert = false, const Outline& outline = {});
  /// Brings what learn() looks at first for such a line nearer.
  void prefetch(const Outline& outline) const;
  /// Template that learn() would give if it created nothing; empty if it would create one.
  std::optional<LocalTemplateId> find(std::string_view message) const;

  /// The template behind an id after all merges (follows alias_of).
  LocalTemplateId canonical(LocalTemplateId id) const;
  /// The template or alias behind an id; one without text if it was evicted.
  const LogTemplate& at(LocalTemplateId id) const;
  /// Nothing more will be learned: lets go of all that find() and canonical() do not need, and of
  /// the templates' texts. Both answer as before; learn() must not be called again.
  void freeze();

  /// Ids whose definition changed since the last call (aliases too), ascending.
  std::vector<LocalTemplateId> poll_changed();
  /// Ids that stand for nothing any more since the last call, ascending: evicted templates with all
  /// their aliases. They are never given again.
  std::vector<LocalTemplateId> poll_forgotten();
  /// Templates that stand, aliases not counted.
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
