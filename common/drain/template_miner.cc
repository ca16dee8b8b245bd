#include "common/drain/template_miner.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/check.h"
#include "common/base/flat_table.h"
#include "common/base/outline_memo.h"
#include "common/drain/flood.h"
#include "common/drain/grouping.h"
#include "common/drain/mask.h"

namespace l4::drain {
namespace {

constexpr std::size_t kSkeletonsMax = 8;
constexpr std::size_t kRowsPerTemplate = 20;  // about the number of tokens of a line
constexpr std::size_t kFrozenMemoMin = 1'000;
constexpr std::size_t kFrozenMemoPerTemplate = 16;
constexpr std::size_t kHalvesPerTemplate = 16;
constexpr std::size_t kOutlinesMax = 4'096;
constexpr std::size_t kTemplatesMin = 64;  // least factor of the bound on rows
constexpr std::size_t kTemplatesMax = 1'000'000;

/// Inserts into the list of the smallest; true if the list changed.
bool absorb(std::vector<Skeleton>& skeletons, Skeleton skeleton) {
  const auto at = std::ranges::lower_bound(skeletons, skeleton);
  if (at != skeletons.end() && *at == skeleton) return false;
  if (at == skeletons.end() && skeletons.size() == kSkeletonsMax) return false;
  skeletons.insert(at, skeleton);
  if (skeletons.size() > kSkeletonsMax) skeletons.pop_back();
  return true;
}

}  // namespace

struct TemplateMiner::State {
  struct Entry {
    LogTemplate log_template;
    std::uint64_t last_line = 0;
    bool alert = false;  ///< one of its lines was a warning or worse
  };
  struct Known {
    Entry* entry = nullptr;
    std::uint64_t last_line : 56 = 0;
    std::uint64_t in_flood : 8 = 0;  ///< Flood::age() when its halves were remembered
  };

  /// An alias that was dropped here; the aggregator may still refer to its template by it.
  struct DroppedAlias {
    std::uint32_t id;
    std::uint32_t alias_of;
  };

  explicit State(Options given)
      : options(given),
        codes(given.codes != nullptr ? *given.codes : default_codes()),
        grouping({.rows_max = std::clamp(given.templates_max, kTemplatesMin, kTemplatesMax) *
                              kRowsPerTemplate}),
        flood(std::min(given.memo_entries_max, given.templates_max * kHalvesPerTemplate)) {
    options.templates_max = std::max<std::size_t>(options.templates_max, 1);
    options.memo_entries_max = std::max<std::size_t>(options.memo_entries_max, 16);
  }

  const Entry& canonical(const Entry& entry) const {
    const Entry* at = &entry;
    while (at->log_template.alias_of) at = &entries.at(at->log_template.alias_of->value());
    return *at;
  }
  Entry& canonical(Entry& entry) {
    Entry* at = &entry;
    while (at->log_template.alias_of) at = &entries.at(at->log_template.alias_of->value());
    return *at;
  }

  Skeleton mask(std::string_view message, const Outline& outline, std::optional<MaskedLine>& whole);
  const MaskedLine& whole(std::string_view message, std::optional<MaskedLine>& known) const;
  TemplateMatch learn_row(std::string_view message, const MaskedLine& line, bool alert);
  std::optional<TemplateMatch> by_half(const MaskedLine& line, bool alert);
  void apply_merges();
  void note_change(LogTemplate& log_template);
  void forget_entry(std::uint32_t id);
  void evict_memo();
  void evict_templates();
  void drop_aliases();

  Options options;
  const CodeList& codes;
  Grouping grouping;
  OutlineMemo<Skeleton> outlines{kOutlinesMax};
  FlatTable<Known> memo;
  Flood flood;
  std::unordered_map<std::uint32_t, Entry> entries;  // templates and aliases
  std::size_t aliases = 0;
  std::set<std::uint32_t> changed;       // changed since poll_changed()
  std::vector<std::uint32_t> forgotten;  // forgotten since poll_forgotten()
  std::vector<DroppedAlias> dropped;     // aliases of entries that still exist
  std::uint64_t changes = 0;
  Stats stats;
  LogTemplate evicted;

  /// The state after freeze().
  struct Frozen {
    SortedTable<std::uint64_t, std::uint32_t> memo;         // template by skeleton
    SortedTable<std::uint32_t, std::uint32_t> standing_of;  // template by alias
    FrozenGroups groups;
    std::size_t templates = 0;
  };
  std::optional<Frozen> frozen;
};

/// The memo of outlines keeps skeletons alone, so that many fit into the cache. `whole`: receives
/// the masked line if it was computed.
Skeleton TemplateMiner::State::mask(std::string_view message, const Outline& outline,
                                    std::optional<MaskedLine>& whole) {
  const auto find_out = [&](std::string_view line) { return masked_skeleton(line, codes); };
  const auto varies = [&](std::string_view line) { return may_hold_code(line, codes); };
  const bool has_outline = outline.collapsed != 0;
  const Skeleton* known = has_outline ? outlines.find(outline) : nullptr;
  if (known != nullptr) return *known;
  whole = masked_line(message, codes);
  if (has_outline) outlines.note(outline, message, whole->skeleton, find_out, varies);
  return whole->skeleton;
}

const MaskedLine& TemplateMiner::State::whole(std::string_view message,
                                              std::optional<MaskedLine>& known) const {
  return known ? *known : known.emplace(masked_line(message, codes));
}

/// The template of a new line of which a half is known.
std::optional<TemplateMatch> TemplateMiner::State::by_half(const MaskedLine& line, bool alert) {
  const auto id = flood.find(line, alert);
  const auto found = id ? entries.find(*id) : entries.end();
  if (found == entries.end()) return std::nullopt;
  Entry& entry = canonical(found->second);
  ++entry.log_template.count;
  entry.last_line = stats.lines;
  ++stats.by_half;
  return TemplateMatch{entry.log_template.id, line.skeleton, false, false};
}

TemplateMatch TemplateMiner::State::learn_row(std::string_view message, const MaskedLine& line,
                                              bool alert) {
  L4_CHECK(!frozen, "line {} is learned after freeze()", stats.lines);
  const Skeleton skeleton = line.skeleton;
  const std::uint64_t changes_before = changes;
  const GroupId id = grouping.insert(masked_row(message, codes));
  apply_merges();
  const auto [at, created] = entries.try_emplace(id);
  Entry& entry = at->second;
  LogTemplate& known = entry.log_template;
  if (created) {
    known.id = LocalTemplateId(id);
    known.text = text(grouping.template_of(id));
    absorb(known.skeletons, skeleton);
    note_change(known);
  } else if (absorb(known.skeletons, skeleton)) {
    note_change(known);
  }
  ++known.count;
  entry.last_line = stats.lines;
  entry.alert = entry.alert || alert;
  const TemplateMatch match{known.id, skeleton, created, changes != changes_before};
  if (memo.size() >= options.memo_entries_max) evict_memo();
  Known& fresh = memo[skeleton.value()] = {&entry, stats.lines, 0};
  if (flood.on()) {
    flood.remember(line, id, alert, true);
    fresh.in_flood = flood.age();
  }
  if (entries.size() - aliases > options.templates_max) evict_templates();
  if (aliases > options.templates_max) drop_aliases();
  return match;
}

void TemplateMiner::State::apply_merges() {
  for (const Grouping::Merge& merge : grouping.poll_merges()) {
    const auto from = entries.find(merge.from);
    if (from == entries.end()) continue;  // the line both created and merged this class
    Entry& target = entries.at(merge.to);
    LogTemplate& source = from->second.log_template;
    target.log_template.count += std::exchange(source.count, 0);
    target.last_line = std::max(target.last_line, from->second.last_line);
    target.alert = target.alert || from->second.alert;
    for (const Skeleton known : source.skeletons) absorb(target.log_template.skeletons, known);
    source.alias_of = target.log_template.id;
    ++aliases;
    note_change(source);
    note_change(target.log_template);
  }
  for (const GroupId id : grouping.poll_changed()) {
    const auto at = entries.find(id);
    if (at == entries.end() || at->second.log_template.alias_of) continue;
    std::string now = text(grouping.template_of(id));
    if (now == at->second.log_template.text) continue;
    at->second.log_template.text = std::move(now);
    note_change(at->second.log_template);
  }
}

void TemplateMiner::State::note_change(LogTemplate& log_template) {
  ++changes;
  ++log_template.generation;
  changed.insert(log_template.id.value());
}

/// Evicts the older half of the memo.
void TemplateMiner::State::evict_memo() {
  std::vector<std::uint64_t> ages;
  ages.reserve(memo.size());
  memo.for_each([&](const Known& known) { ages.push_back(known.last_line); });
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::ranges::nth_element(ages, middle);
  stats.evicted_memo += memo.keep_if([&](const Known& known) { return known.last_line > *middle; });
}

/// Evicts the least recently used sixteenth of the templates, but at least one; in a flood, which
/// fills the room again soon, a quarter. Templates of alerts are evicted only if they fill more
/// than half of the room, and then no others are.
void TemplateMiner::State::evict_templates() {
  using Ages = std::vector<std::pair<std::uint64_t, GroupId>>;
  Ages alerts, others;
  for (const auto& [id, entry] : entries)
    if (!entry.log_template.alias_of)
      (entry.alert ? alerts : others).emplace_back(entry.last_line, id);
  Ages& ages = alerts.size() > others.size() ? alerts : others;
  const std::size_t count = std::max<std::size_t>(1, options.templates_max / (flood.on() ? 4 : 16));
  const auto last = ages.begin() + static_cast<std::ptrdiff_t>(std::min(count, ages.size() - 1));
  std::ranges::nth_element(ages, last);
  std::vector<GroupId> dead;
  for (auto age = ages.begin(); age != last; ++age) dead.push_back(age->second);
  std::ranges::sort(dead);
  const auto is_dead = [&](const Entry& entry) {
    return std::ranges::binary_search(dead, canonical(entry).log_template.id.value());
  };
  memo.keep_if([&](const Known& known) { return !is_dead(*known.entry); });
  std::vector<std::uint32_t> gone;
  for (const auto& [id, entry] : entries) {
    if (is_dead(entry)) gone.push_back(id);
  }
  std::erase_if(dropped, [&](const DroppedAlias& alias) {
    if (!is_dead(entries.at(alias.alias_of))) return false;
    forgotten.push_back(alias.id);
    return true;
  });
  for (const std::uint32_t id : gone) forget_entry(id);
  forgotten.insert(forgotten.end(), gone.begin(), gone.end());
  grouping.forget(dead);
  stats.evicted_templates += dead.size();
}

/// Evicts the older half of the aliases; references to them become references to their templates.
void TemplateMiner::State::drop_aliases() {
  memo.for_each([&](Known& known) { known.entry = &canonical(*known.entry); });
  std::vector<std::uint32_t> ids;
  for (auto& [id, entry] : entries) {
    if (!entry.log_template.alias_of) continue;
    entry.log_template.alias_of = canonical(entry).log_template.id;
    ids.push_back(id);
  }
  std::ranges::sort(ids);
  ids.resize(ids.size() / 2);
  for (DroppedAlias& alias : dropped)
    alias.alias_of = canonical(entries.at(alias.alias_of)).log_template.id.value();
  for (const std::uint32_t id : ids) {
    dropped.push_back({id, entries.at(id).log_template.alias_of->value()});
    forget_entry(id);
  }
}

void TemplateMiner::State::forget_entry(std::uint32_t id) {
  const auto at = entries.find(id);
  L4_CHECK(at != entries.end(), "template {} is forgotten but not among {}", id, entries.size());
  if (at->second.log_template.alias_of) --aliases;
  entries.erase(at);
  changed.erase(id);
}

TemplateMiner::TemplateMiner(Options options) : state_(std::make_unique<State>(options)) {}
TemplateMiner::~TemplateMiner() = default;
TemplateMiner::TemplateMiner(TemplateMiner&&) noexcept = default;
TemplateMiner& TemplateMiner::operator=(TemplateMiner&&) noexcept = default;

TemplateMatch TemplateMiner::learn(std::string_view message, bool alert, const Outline& outline) {
  State& state = *state_;
  ++state.stats.lines;
  std::optional<MaskedLine> whole;
  const Skeleton skeleton = state.mask(message, outline, whole);
  State::Known* known = state.memo.find(skeleton.value());
  state.flood.note(known != nullptr);
  if (known == nullptr) {
    const MaskedLine& line = state.whole(message, whole);
    if (state.flood.on())
      if (const auto match = state.by_half(line, alert)) return *match;
    return state.learn_row(message, line, alert);
  }
  ++state.stats.memo_hits;
  if (known->entry->log_template.alias_of) known->entry = &state.canonical(*known->entry);
  known->last_line = known->entry->last_line = state.stats.lines;
  ++known->entry->log_template.count;
  known->entry->alert = known->entry->alert || alert;
  const LocalTemplateId id = known->entry->log_template.id;
  if (state.flood.on() && known->in_flood != state.flood.age()) {
    state.flood.remember(state.whole(message, whole), id.value(), alert);
    known->in_flood = state.flood.age();
  }
  return {id, skeleton, false, false};
}

void TemplateMiner::prefetch(const Outline& outline) const {
  state_->outlines.prefetch(outline);
}

std::optional<LocalTemplateId> TemplateMiner::find(std::string_view message) const {
  const MaskedLine line = masked_line(message, state_->codes);
  std::optional<std::uint32_t> id;
  if (state_->frozen) {
    const State::Frozen& frozen = *state_->frozen;
    if (const auto* known = frozen.memo.find(line.skeleton.value())) return LocalTemplateId(*known);
    id = frozen.groups.find(masked_row(message, state_->codes));
  } else if (const auto* known = std::as_const(state_->memo).find(line.skeleton.value())) {
    return state_->canonical(std::as_const(*known->entry)).log_template.id;
  } else {
    id = state_->grouping.find(masked_row(message, state_->codes));
  }
  if (!id) id = state_->flood.find(line, false);
  return id ? std::optional(canonical(LocalTemplateId(*id))) : std::nullopt;
}

void TemplateMiner::freeze() {
  State& state = *state_;
  // The memo need not hold every line: find() searches the tree for the others.
  while (state.memo.size() > kFrozenMemoMin + kFrozenMemoPerTemplate * size()) state.evict_memo();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> memo;
  state.memo.for_each_entry([&](std::uint64_t key, const State::Known& known) {
    memo.emplace_back(key, state.canonical(std::as_const(*known.entry)).log_template.id.value());
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> aliases;
  for (const auto& [id, entry] : state.entries) {
    if (!entry.log_template.alias_of) continue;
    aliases.emplace_back(id, state.canonical(entry).log_template.id.value());
  }
  const std::size_t templates = size();
  state.stats.dropped_rows = state.grouping.dropped_rows();
  state.frozen = State::Frozen{SortedTable(std::move(memo)), SortedTable(std::move(aliases)),
                               state.grouping.freeze(), templates};
  state.flood.freeze();
  state.memo = FlatTable<State::Known>();
  state.outlines = OutlineMemo<Skeleton>(kOutlinesMax);
  state.entries = std::unordered_map<std::uint32_t, State::Entry>();
  state.changed.clear();
  state.dropped = std::vector<State::DroppedAlias>();
}

LocalTemplateId TemplateMiner::canonical(LocalTemplateId id) const {
  if (state_->frozen) {
    const auto* standing = state_->frozen->standing_of.find(id.value());
    return standing != nullptr ? LocalTemplateId(*standing) : id;
  }
  const auto found = state_->entries.find(id.value());
  if (found == state_->entries.end()) return id;
  return state_->canonical(std::as_const(found->second)).log_template.id;
}

const LogTemplate& TemplateMiner::at(LocalTemplateId id) const {
  const auto found = state_->entries.find(id.value());
  return found != state_->entries.end() ? found->second.log_template : state_->evicted;
}

std::vector<LocalTemplateId> TemplateMiner::poll_changed() {
  std::vector<LocalTemplateId> ids;
  for (const std::uint32_t id : state_->changed) ids.emplace_back(id);
  state_->changed.clear();
  return ids;
}

std::vector<LocalTemplateId> TemplateMiner::poll_forgotten() {
  std::ranges::sort(state_->forgotten);
  std::vector<LocalTemplateId> ids(state_->forgotten.begin(), state_->forgotten.end());
  state_->forgotten.clear();
  return ids;
}

std::size_t TemplateMiner::size() const {
  return state_->frozen ? state_->frozen->templates : state_->entries.size() - state_->aliases;
}

Stats TemplateMiner::stats() const {
  Stats stats = state_->stats;
  if (!state_->frozen) stats.dropped_rows = state_->grouping.dropped_rows();
  return stats;
}

const CodeList& TemplateMiner::codes() const {
  return state_->codes;
}

Skeleton skeleton_of(std::string_view message) {
  return masked_skeleton(message, default_codes());
}

}  // namespace l4::drain
