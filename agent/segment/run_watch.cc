#include "agent/segment/run_watch.h"

#include <algorithm>
#include <array>

namespace l4::segment {
namespace {

/// Numbers of one run fall a little if several ranks write into one stream, or if a program prints
/// measurements late: by this many printed iterations at most.
constexpr std::int64_t kLagStrides = 16;
/// The limit for numbers that fall back to those with which the run began.
constexpr std::int64_t kLagStridesToBegin = 2;
/// Speakers without distinct prefixes print the same banner within this many records.
constexpr std::uint64_t kEchoRecords = 30;
/// Falls are counted in blocks of this many numbers.
constexpr int kJumpBlock = 32;
/// A block with kJumpsMany falls shows numbers that count nothing; normal blocks have kJumpsFew at
/// most.
constexpr int kJumpsMany = 8, kJumpsFew = 2;
constexpr std::int64_t kJump = 16;
/// Until two numbers tell how many iterations are printed, a number up to this is one of a begin.
constexpr std::int64_t kFirstMax = 100;
/// Records before the first iteration that can be lines of the opening.
constexpr std::uint64_t kOpeningRecords = 400;
/// A program that pauses so long, and longer than ever before, may have been started again.
constexpr Millis kPauseMin{600'000};
/// A start of so many records does not fit into what a process writes at once.
constexpr std::uint64_t kLongStart = 100;
/// Processes of one start begin within this time.
constexpr Millis kTogether{30'000};

bool is_word_of_shell(std::string_view text) {
  constexpr auto kShellWords = std::to_array<std::string_view>(
      {"Killed", "Terminated", "Aborted", "Segmentation fault", "Bus error", "Hangup",
       "Floating point exception", "Illegal instruction", "User defined signal 1",
       "User defined signal 2", "CPU time limit exceeded"});
  constexpr std::string_view kDumped = " (core dumped)";
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.ends_with(kDumped)) text.remove_suffix(kDumped.size());
  return std::ranges::find(kShellWords, text) != kShellWords.end();
}

bool is_word_of_batch_system(std::string_view text) {
  struct Notice {
    std::string_view front, word;  ///< how the line begins, and what it says behind
  };
  constexpr auto kNotices = std::to_array<Notice>({
      {"slurmstepd", ": error: *** "},  // the name of the node may stand behind it
      {"TERM_", ": job killed"},
      {"=>> PBS: ", "job killed"},
      {"Exited with exit code ", "."},
  });
  return std::ranges::any_of(kNotices, [&](const Notice& notice) {
    return text.starts_with(notice.front) &&
           text.find(notice.word, notice.front.size()) != text.npos;
  });
}

}  // namespace

bool ends_run(std::string_view text) {
  return is_word_of_shell(text) || is_word_of_batch_system(text);
}

void RunWatch::note_jump(std::size_t speaker, const IterationMark& mark) {
  const std::int64_t number = mark.iteration;
  if (!jumps_.last)
    jumps_ = {.speaker = speaker, .marker = mark.rule, .numbering = mark.numbering, .last = number};
  if (jumps_.speaker != speaker || jumps_.marker != mark.rule) return;
  const bool compared = jumps_.numbering == mark.numbering;
  jumps_.numbering = mark.numbering;
  if (compared && number < *jumps_.last - kJump && !jumps_.started) ++jumps_.back;
  jumps_.started = false;
  jumps_.last = number;
  if (++jumps_.numbers < kJumpBlock) return;
  jumps_.restless = jumps_.back >= (jumps_.restless ? kJumpsFew + 1 : kJumpsMany);
  jumps_.numbers = jumps_.back = 0;
}

bool RunWatch::falls(std::size_t speaker, const IterationMark& mark) {
  if (mark.counted) return false;
  if (leader_ && leader_->speaker == speaker && leader_->numbering != mark.numbering)
    leader_.reset();
  const bool first = !leader_;
  if (first) {
    leader_ = Leader{speaker, mark.rule, mark.numbering, mark.iteration, mark.iteration, 1};
    if (!file_.numbered) file_.sound = mark.iteration <= kFirstMax;
    file_.numbered = true;
    file_.opened = true;
  }
  if (leader_->speaker != speaker || leader_->marker != mark.rule) return false;
  const std::int64_t step = mark.iteration - leader_->last;
  const bool started = file_.opening.repeated() >= file_.opening.needed(ended_);
  if (!first && step <= 0 && started) return true;
  const bool at_begin = mark.iteration <= leader_->first + leader_->stride;
  if (-step > (at_begin ? kLagStridesToBegin : kLagStrides) * leader_->stride) return true;
  if (step > 0) {
    if (!file_.judged) file_.sound = leader_->first <= kLagStrides * step;
    file_.judged = true;
    leader_->stride = step;
    leader_->last = mark.iteration;
    came_to_something_ = true;
    ended_ = paused_ = false;
    file_.opening.go_on();
  }
  return false;
}

bool RunWatch::repeats(std::size_t speaker, const LiteralRule* banner) {
  const auto [said, first] = banners_.try_emplace({speaker, banner}, records_);
  if (first) return false;
  const bool echo = records_ - said->second < kEchoRecords;
  said->second = records_;
  return !echo && came_to_something_;
}

/// Notes lines of the opening until the first number; true while they are noted.
bool RunWatch::opens(const Line& line) {
  if (file_.opened) return false;
  const bool over = ended_ && file_.opening.needed(true) <= OpeningLines::kMax;
  file_.opened = over || file_.opening.full() || records_ >= kOpeningRecords;
  if (file_.opened) return false;
  if (line.level < Level::error && !line.folded) file_.opening.note(line.id);
  return true;
}

void RunWatch::note_time(const Line& line) {
  if (!line.time) return;
  if (!begin_) begin_ = line.time;
  const Millis pause = file_.time ? *line.time - *file_.time : Millis{0};
  file_.time = line.time;
  if (pause <= file_.pause) return;
  paused_ = pause >= kPauseMin && pause > 2 * file_.pause;
  file_.pause = pause;
}

/// Enough lines of the opening came again, behind the end of a run.
bool RunWatch::opens_again(const Line& line) {
  OpeningLines& opening = file_.opening;
  if (!leader_ && !ended_ && !paused_) return false;  // a run that has only begun
  opening.again(line.id, records_);
  if (!ended_ && !paused_) return false;
  if (opening.repeated() < opening.needed(true)) return false;
  if (leader_) return file_.sound;
  // No number tells where the run was: other processes of the same start may come late. Where no
  // time tells them apart, a long start that comes again as a whole is one of its own, because
  // processes that print much at the same time interleave.
  if (!opening.from_the_top()) return false;
  if (begin_ && line.time) return *line.time - *begin_ > kTogether;
  return records_ - first_ >= kLongStart && opening.repeated() >= opening.needed(false);
}

/// Notes what shows that the run is over, or goes on.
void RunWatch::note_end(const Line& line, const TemplateTraits& traits) {
  ended_ |= traits.role.finished || traits.ended || (line.folded && line.level >= Level::error);
  came_to_something_ |= traits.role.finished || traits.ended || line.level >= Level::error;
}

bool RunWatch::begins(const Line& line, const TemplateTraits& traits,
                      const std::optional<IterationMark>& mark) {
  ++records_;
  note_time(line);
  if (mark && !mark->counted) note_jump(line.speaker, *mark);
  const LiteralRule* banner = traits.role.banner;
  jumps_.started |= banner != nullptr || is_startup(traits.role.stage);
  if (restless()) leader_.reset();
  const bool begun = (mark && !restless() && falls(line.speaker, *mark)) ||
                     (banner != nullptr && repeats(line.speaker, banner)) ||
                     (line.refused && worked_) ||
                     (!opens(line) && file_.opening.may_hold(line.id) && opens_again(line));
  if (begun) {
    const Jumps jumps = jumps_;
    const std::uint64_t records = records_;
    File file = file_;
    file.opening.begin();
    file.opened = true;
    *this = {};
    jumps_ = jumps;
    file_ = file;
    begin_ = line.time;
    records_ = first_ = records;
    if (banner != nullptr) banners_[{line.speaker, banner}] = records_;
  }
  worked_ |= mark.has_value() || !traits.figures.empty();
  note_end(line, traits);
  return begun;
}

}  // namespace l4::segment
