// Rule packs: the meaning of the lines that a training framework prints itself. A line may mark an
// iteration, begin a run, begin or end a stage, carry phase times, belong to teardown or to the
// aftermath of a failure, or say that the job ended well.
// Flow: config/frameworks/*.toml -> RulePackSet; agent/pipeline calls `classify` once per template,
// with its first message, and keeps the answer. Only `read_number` and `read_value` run for each
// line: literal search, no regex, no allocation. Immutable after load, so any thread may read; the
// pointers in a TemplateRole live as long as the set and survive its moves. Packs apply in order of
// name, those with `fallback = true` last; the first pack that matches names the iteration marker
// and the stage. A line that only mentions an iteration is not a marker. docs/FRAMEWORKS.md says
// how to write a pack.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/outline.h"
#include "common/base/vocabulary.h"
#include "common/wire/batch.h"

namespace l4::segment {

/// Matches messages that hold all of `contains` and none of `excludes`.
struct LiteralRule {
  std::vector<std::string> contains;
  std::vector<std::string> excludes;
  bool leading_number = false;  ///< the message must begin with a digit (after blanks)
  std::uint32_t literal = 0;    ///< number of the longest of `contains` in the set's index
};

/// The speakers of a marker: one rank for the whole job, or every rank for itself.
enum class IterationSpeaker : std::uint8_t { one, all };

struct IterationMarker {
  std::string pack;
  LiteralRule rule;
  std::string number_after;  ///< the iteration stands behind this literal
  wire::Boundary boundary = wire::Boundary::completed;
  IterationSpeaker speaker = IterationSpeaker::one;
  /// A progress bar: its number counts only while the total (`read_progress`) stays the same,
  /// because evaluation loops draw bars of the same shape.
  bool bar = false;
};

/// A timer measures the rank's own work, its waiting in a collective, or both in one figure (with
/// torch's DDP the backward pass contains the gradient reduction).
enum class TimerRole : std::uint8_t { own, wait, mixed };

struct Timer {
  std::string name;
  LiteralRule rule;
  std::string number_after;
  double ms_per_unit = 1.0;
  TimerRole role = TimerRole::own;
};

/// The meaning of a template; everything is empty if no pack knows it.
struct TemplateRole {
  const IterationMarker* iteration = nullptr;
  Stage stage = Stage::unknown;      ///< begins with this line
  Stage stage_end = Stage::unknown;  ///< the stage ends with this line
  std::vector<const Timer*> timers;
  /// The rule of a line that begins a run and is printed once in it, by one speaker; null for all
  /// other lines.
  const LiteralRule* banner = nullptr;
  bool teardown = false;   ///< noise of an ordinary end
  bool aftermath = false;  ///< printed after another rank, or the job, has failed
  bool finished = false;   ///< the job, or this rank, ended well
  bool progress = false;   ///< proof of progress without an iteration number
  /// Packs that know the line as their framework's own. A stage alone does not count, because many
  /// frameworks word stages alike; a fallback pack counts only if it names the iteration.
  std::vector<std::string_view> packs;
};

class RulePackSet {
 public:
  /// All packs of a folder, usually config/frameworks. Errors name file, line and key.
  static Result<RulePackSet> load(const std::filesystem::path& folder);

  RulePackSet(RulePackSet&&) noexcept;
  RulePackSet& operator=(RulePackSet&&) noexcept;
  ~RulePackSet();

  TemplateRole classify(std::string_view first_message_of_template) const;

  /// The stage that the functions of a traceback belong to (agent/decode/stack.h); unknown if no
  /// pack knows them.
  Stage stage_of(std::string_view stack) const;

  /// Every timer of every pack, in the order of the packs; names may repeat between packs.
  std::vector<const Timer*> timers() const;
  std::vector<std::string> names() const;

 private:
  struct State;
  explicit RulePackSet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Position within a run: "6/120" or a number alone.
struct Progress {
  std::int64_t number = 0;
  std::optional<std::int64_t> total;
  bool operator==(const Progress&) const = default;
};

/// Position of the number in the last line that was searched. In lines of the same outline it is
/// shifted only by the lengths of the numbers before it.
struct ReadHint {
  std::uint64_t outline = 0;  ///< Outline::collapsed of the line
  std::size_t at = 0;         ///< position of `after` in it
  int others = 0;             ///< number of lines of other outlines since then

  /// Notes where the number was found. After kOthersMax lines of other outlines in a row, the hint
  /// changes to the outline of this line.
  void note(const Outline& of_line, std::size_t found) {
    constexpr int kOthersMax = 8;
    const bool same = of_line.collapsed == outline;
    others = same ? 0 : others + 1;
    if (same || outline == 0 || others > kOthersMax) *this = {of_line.collapsed, found, 0};
  }
};

/// Position of `phrase`, if it stands a few bytes from `hint` at most.
std::optional<std::size_t> find_near(std::string_view message, std::string_view phrase,
                                     std::size_t hint);

/// The integer behind the first `after` that is followed by an integer; blanks, `:`, `=`, `[`, `(`
/// and dots between them are skipped.
std::optional<std::int64_t> read_number(std::string_view message, std::string_view after);
/// Like read_number, and also reads the total behind a slash if there is one. A number with a
/// fraction (12.5) counts nothing.
std::optional<Progress> read_progress(std::string_view message, std::string_view after);
std::optional<Progress> read_progress(std::string_view message, std::string_view after,
                                      const Outline& outline, ReadHint& hint);
/// Decimal number behind `after`, found like read_number; nan and inf give nothing.
std::optional<double> read_value(std::string_view message, std::string_view after);
std::optional<double> read_value(std::string_view message, std::string_view after,
                                 const Outline& outline, ReadHint& hint);

}  // namespace l4::segment
