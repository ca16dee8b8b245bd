#include "agent/segment/rule_pack.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "agent/segment/decimal.h"
#include "agent/segment/stack_stages.h"
#include "common/base/ascii.h"
#include "common/base/find_bytes.h"
#include "common/base/literal_index.h"
#include "common/config/config_table.h"

namespace l4::segment {
namespace {

struct StageRule {
  Stage stage = Stage::unknown;
  LiteralRule begin;
  std::vector<LiteralRule> until;  ///< each of them ends the stage
};

struct StackRule {
  Stage stage = Stage::unknown;
  std::vector<std::string> functions;
};

struct RulePack {
  std::string name;
  bool fallback = false;
  std::vector<IterationMarker> iterations;
  std::vector<StageRule> stages;
  std::vector<StackRule> stacks;
  std::vector<Timer> timers;
  std::vector<LiteralRule> banners, teardown, aftermath, finished, progress;
  std::uint32_t literals_from = 0, literals_to = 0;  ///< numbers of its rules' literals
};

LiteralRule read_rule(ConfigTable& table) {
  LiteralRule rule;
  rule.contains = table.texts("contains");
  rule.excludes = table.texts_or_none("excludes");
  rule.leading_number = table.flag_or("leading_number", false);
  if (std::ranges::any_of(rule.contains, &std::string::empty))
    table.refuse("contains", "an empty text would match every line");
  for (const std::string& literal : rule.excludes)
    if (literal.empty() || std::ranges::find(rule.contains, literal) != rule.contains.end())
      table.refuse("excludes", "\"" + literal + "\" leaves no line to match");
  return rule;
}

std::string read_anchor(ConfigTable& table) {
  std::string anchor = table.text("number_after");
  if (table.has("number_after") && anchor.empty())
    table.refuse("number_after", "an empty text stands before every number");
  return anchor;
}

IterationMarker read_marker(ConfigTable& table, const std::string& pack) {
  IterationMarker marker;
  marker.pack = pack;
  marker.rule = read_rule(table);
  marker.number_after = read_anchor(table);
  marker.bar = table.flag_or("bar", false);
  marker.boundary = table.choice("boundary", {"completed", "started"}) == 0
                        ? wire::Boundary::completed
                        : wire::Boundary::started;
  marker.speaker =
      table.choice("speaker", {"one", "all"}) == 0 ? IterationSpeaker::one : IterationSpeaker::all;
  return marker;
}

Stage read_stage_name(ConfigTable& table) {
  const auto stage = stage_from_name(table.text("stage"));
  if (!stage || *stage == Stage::unknown) table.refuse("stage", "names no stage");
  return stage.value_or(Stage::unknown);
}

StackRule read_stack(ConfigTable& table) {
  StackRule rule{read_stage_name(table), table.texts("functions")};
  if (std::ranges::any_of(rule.functions, &std::string::empty))
    table.refuse("functions", "an empty text names no function");
  return rule;
}

StageRule read_stage(ConfigTable& table) {
  StageRule rule;
  rule.stage = read_stage_name(table);
  rule.begin = read_rule(table);
  for (std::string& text : table.texts_or_none("until"))
    rule.until.emplace_back().contains.push_back(std::move(text));
  return rule;
}

Timer read_timer(ConfigTable& table) {
  Timer timer;
  timer.name = table.text("name");
  timer.rule = read_rule(table);
  timer.number_after = read_anchor(table);
  timer.ms_per_unit = table.choice("unit", {"ms", "s"}) == 0 ? 1.0 : 1000.0;
  timer.role = static_cast<TimerRole>(table.choice("role", {"own", "wait", "mixed"}));
  return timer;
}

Result<RulePack> read_pack(const std::filesystem::path& file) {
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  RulePack pack;
  pack.name = root->text("name");
  if (root->has("name") && pack.name.empty()) root->refuse("name", "must not be empty");
  pack.fallback = root->flag_or("fallback", false);
  for (auto& table : root->tables("iteration"))
    pack.iterations.push_back(read_marker(table, pack.name));
  for (auto& table : root->tables("stage")) pack.stages.push_back(read_stage(table));
  for (auto& table : root->tables("stack")) pack.stacks.push_back(read_stack(table));
  for (auto& table : root->tables("timer")) pack.timers.push_back(read_timer(table));
  for (auto& table : root->tables("banner")) pack.banners.push_back(read_rule(table));
  for (auto& table : root->tables("teardown")) pack.teardown.push_back(read_rule(table));
  for (auto& table : root->tables("aftermath")) pack.aftermath.push_back(read_rule(table));
  for (auto& table : root->tables("finished")) pack.finished.push_back(read_rule(table));
  for (auto& table : root->tables("progress")) pack.progress.push_back(read_rule(table));
  if (auto error = root->finish()) return std::unexpected(*error);
  return pack;
}

template <class Visit>
void each_rule(RulePack& pack, Visit visit) {
  for (IterationMarker& marker : pack.iterations) visit(marker.rule);
  for (Timer& timer : pack.timers) visit(timer.rule);
  for (StageRule& stage : pack.stages) {
    visit(stage.begin);
    std::ranges::for_each(stage.until, visit);
  }
  for (auto* rules :
       {&pack.banners, &pack.teardown, &pack.aftermath, &pack.finished, &pack.progress})
    std::ranges::for_each(*rules, visit);
}

/// Literals are numbered from `numbers` on.
void file(RulePack& pack, LiteralIndex& literals, std::uint32_t& numbers) {
  pack.literals_from = numbers;
  each_rule(pack, [&](LiteralRule& rule) {
    const auto longest = std::ranges::max_element(rule.contains, {}, &std::string::size);
    rule.literal = numbers++;
    literals.add(longest == rule.contains.end() ? std::string_view() : *longest, rule.literal);
  });
  pack.literals_to = numbers;
}

bool begins_with_number(std::string_view message) {
  const auto first = message.find_first_not_of(" \t");
  return first != std::string_view::npos && is_digit(message[first]);
}

/// A message that the rules of the packs are matched with.
struct Asked {
  std::string_view message;
  std::vector<std::uint32_t> held;  ///< LiteralRule::literal of those that it holds, ascending
  std::vector<bool> literals;       ///< the same, by LiteralRule::literal
};

bool accepts(const LiteralRule& rule, const Asked& asked) {
  if (!asked.literals[rule.literal]) return false;
  const auto within = [&](const auto& literal) {
    return find_phrase(asked.message, literal) != std::string_view::npos;
  };
  return std::ranges::all_of(rule.contains, within) &&
         std::ranges::none_of(rule.excludes, within) &&
         (!rule.leading_number || begins_with_number(asked.message));
}

/// The first rule that accepts the message.
const LiteralRule* first_of(const std::vector<LiteralRule>& rules, const Asked& asked) {
  const auto found = std::ranges::find_if(rules, [&](const auto& r) { return accepts(r, asked); });
  return found == rules.end() ? nullptr : &*found;
}

/// The text behind a phrase, without the signs that lead to a number.
std::string_view behind(std::string_view message, std::size_t at, std::string_view phrase) {
  static constexpr std::array<bool, 256> kLeads = [] {
    std::array<bool, 256> leads{};
    for (const char c : std::string_view(" \t:=[(.")) leads[static_cast<unsigned char>(c)] = true;
    return leads;
  }();
  std::string_view rest = message.substr(at + phrase.size());
  while (!rest.empty() && kLeads[static_cast<unsigned char>(rest.front())]) rest.remove_prefix(1);
  return rest;
}

/// Passes the text behind each occurrence of `after` to `parse` until it returns a value.
template <class Parse>
auto read_behind(std::string_view message, std::string_view after, Parse parse,
                 const Outline& outline, ReadHint& hint) -> decltype(parse(message)) {
  if (outline.collapsed != 0 && outline.collapsed == hint.outline)
    if (const auto at = find_near(message, after, hint.at))
      if (auto value = parse(behind(message, *at, after))) {
        hint.note(outline, *at);
        return value;
      }
  for (auto at = find_phrase(message, after); at != std::string_view::npos;
       at = find_phrase(message, after, at + 1)) {
    if (auto value = parse(behind(message, at, after))) {
      hint.note(outline, at);
      return value;
    }
  }
  return std::nullopt;
}

/// Parses an unsigned integer at the front and removes it.
std::optional<std::int64_t> parse_integer(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || !is_digit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// What stands behind an integer makes it the whole part of 12.5; 12.0 is an integer.
bool has_fraction(std::string_view rest) {
  if (!rest.starts_with('.')) return false;
  const std::size_t other = rest.find_first_not_of('0', 1);
  return other != std::string_view::npos && is_digit(rest[other]);
}

// Each apply_* adds what the pack knows to the role; those with a result return whether the pack
// knew something.

bool apply_marker(const RulePack& pack, const Asked& asked, TemplateRole& role) {
  const auto found = std::ranges::find_if(pack.iterations, [&](const IterationMarker& marker) {
    return accepts(marker.rule, asked) && read_number(asked.message, marker.number_after);
  });
  if (found == pack.iterations.end()) return false;
  if (role.iteration == nullptr) role.iteration = &*found;
  return true;
}

void apply_stages(const RulePack& pack, const Asked& asked, TemplateRole& role) {
  for (const auto& rule : pack.stages) {
    const bool begins = accepts(rule.begin, asked);
    const bool ends = first_of(rule.until, asked) != nullptr;
    if (begins && role.stage == Stage::unknown) role.stage = rule.stage;
    if (ends && role.stage_end == Stage::unknown) role.stage_end = rule.stage;
  }
}

bool apply_timers(const RulePack& pack, const Asked& asked, TemplateRole& role) {
  bool known = false;
  for (const auto& timer : pack.timers) {
    if (!accepts(timer.rule, asked) || !read_value(asked.message, timer.number_after)) continue;
    known = true;
    const auto same = [&](const Timer* t) { return t->number_after == timer.number_after; };
    if (std::ranges::none_of(role.timers, same)) role.timers.push_back(&timer);
  }
  return known;
}

/// False if no rule of the pack can accept the message, which is so for most packs.
bool may_know(const RulePack& pack, const Asked& asked) {
  const auto first = std::ranges::lower_bound(asked.held, pack.literals_from);
  return first != asked.held.end() && *first < pack.literals_to;
}

void apply(const RulePack& pack, const Asked& asked, TemplateRole& role) {
  apply_stages(pack, asked, role);
  bool known = apply_marker(pack, asked, role);
  known |= apply_timers(pack, asked, role);
  const LiteralRule* banner = first_of(pack.banners, asked);
  if (role.banner == nullptr) role.banner = banner;
  const bool teardown = first_of(pack.teardown, asked) != nullptr;
  const bool aftermath = first_of(pack.aftermath, asked) != nullptr;
  const bool finished = first_of(pack.finished, asked) != nullptr;
  const bool progress = first_of(pack.progress, asked) != nullptr;
  role.teardown |= teardown;
  role.aftermath |= aftermath;
  role.finished |= finished;
  role.progress |= progress;
  if (pack.fallback ? role.iteration != nullptr && role.iteration->pack == pack.name
                    : known || banner != nullptr || teardown || aftermath || finished || progress)
    role.packs.push_back(pack.name);
}

}  // namespace

struct RulePackSet::State {
  std::vector<RulePack> packs;
  LiteralIndex literals;
  std::uint32_t literal_count = 0;
  StackStages stacks;
};

RulePackSet::RulePackSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
RulePackSet::RulePackSet(RulePackSet&&) noexcept = default;
RulePackSet& RulePackSet::operator=(RulePackSet&&) noexcept = default;
RulePackSet::~RulePackSet() = default;

Result<RulePackSet> RulePackSet::load(const std::filesystem::path& folder) {
  auto files = list_config_files(folder);
  if (!files) return std::unexpected(files.error());
  auto state = std::make_unique<State>();
  for (const auto& file : *files) {
    auto pack = read_pack(file);
    if (!pack) return std::unexpected(pack.error());
    const auto same = [&](const RulePack& other) { return other.name == pack->name; };
    if (std::ranges::any_of(state->packs, same))
      return std::unexpected(Error{file.string() + ": name", "pack " + pack->name + " again"});
    state->packs.push_back(std::move(*pack));
  }
  std::ranges::sort(state->packs, {}, [](const RulePack& pack) {
    return std::pair<bool, std::string_view>(pack.fallback, pack.name);
  });
  for (const RulePack& pack : state->packs)
    for (const StackRule& rule : pack.stacks)
      for (const std::string& function : rule.functions) state->stacks.add(function, rule.stage);
  for (RulePack& pack : state->packs) file(pack, state->literals, state->literal_count);
  state->literals.build();
  return RulePackSet(std::move(state));
}

TemplateRole RulePackSet::classify(std::string_view first_message_of_template) const {
  Asked asked{first_message_of_template, state_->literals.find(first_message_of_template),
              std::vector<bool>(state_->literal_count)};
  for (const std::uint32_t number : asked.held) asked.literals[number] = true;
  TemplateRole role;
  for (const auto& pack : state_->packs)
    if (may_know(pack, asked)) apply(pack, asked, role);
  return role;
}

Stage RulePackSet::stage_of(std::string_view stack) const {
  return state_->stacks.stage_of(stack);
}

std::vector<const Timer*> RulePackSet::timers() const {
  std::vector<const Timer*> all;
  for (const auto& pack : state_->packs)
    for (const auto& timer : pack.timers) all.push_back(&timer);
  return all;
}

std::vector<std::string> RulePackSet::names() const {
  std::vector<std::string> all;
  for (const auto& pack : state_->packs) all.push_back(pack.name);
  return all;
}

std::optional<std::size_t> find_near(std::string_view message, std::string_view phrase,
                                     std::size_t hint) {
  constexpr std::size_t kShiftMax = 6;
  const std::size_t from = hint - std::min(hint, kShiftMax);
  if (from >= message.size()) return std::nullopt;
  // The bytes behind let find_phrase compare sixteen places at once.
  const std::string_view near =
      message.substr(from, 2 * kShiftMax + phrase.size() + sizeof(ByteVector));
  const std::size_t at = find_phrase(near, phrase);
  return at <= 2 * kShiftMax ? std::optional(from + at) : std::nullopt;
}

std::optional<std::int64_t> read_number(std::string_view message, std::string_view after) {
  ReadHint none;
  return read_behind(
      message, after, [](std::string_view rest) { return parse_integer(rest); }, {}, none);
}

std::optional<Progress> read_progress(std::string_view message, std::string_view after) {
  ReadHint none;
  return read_progress(message, after, {}, none);
}

std::optional<Progress> read_progress(std::string_view message, std::string_view after,
                                      const Outline& outline, ReadHint& hint) {
  const auto parse = [](std::string_view rest) -> std::optional<Progress> {
    const auto number = parse_integer(rest);
    if (!number || has_fraction(rest)) return std::nullopt;
    Progress progress{*number, std::nullopt};
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty() || rest.front() != '/') return progress;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    progress.total = parse_integer(rest);
    return progress;
  };
  return read_behind(message, after, parse, outline, hint);
}

std::optional<double> read_value(std::string_view message, std::string_view after) {
  ReadHint none;
  return read_value(message, after, {}, none);
}

std::optional<double> read_value(std::string_view message, std::string_view after,
                                 const Outline& outline, ReadHint& hint) {
  const auto parse = [](std::string_view rest) -> std::optional<double> {
    double value = 0;
    const bool read = read_decimal(rest, value) != 0;
    return read && std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  return read_behind(message, after, parse, outline, hint);
}

}  // namespace l4::segment
