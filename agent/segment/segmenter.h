// Cuts the events of one source into segments: iterations, stages, one-second slices.
//
// Place in the flow: Drain -> here -> batch. A line that completes iteration k ends the segment of
// k; a line that starts k begins one; a line that a rule pack ties to a stage begins one too. If a
// source prints only signs of progress and no number, the signs are counted instead. One per
// source, one thread; the segmenter owns nothing but the open segment. A new run in the same file
// gets a new segmenter, which continues with the learner of the old one.
// Bounds of a segment: 4,096 runs of order and 8 parameter tuples per template, from the template's
// first 64 records; set_shares() lowers them. A source without markers closes its segment when its
// printed time has moved on by kSlice; if its times jump back and forth, the time of arrival is
// used instead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "agent/decode/record.h"
#include "agent/segment/bar_clock.h"
#include "agent/segment/beat_learner.h"
#include "agent/segment/epoch_counter.h"
#include "agent/segment/iteration_learner.h"
#include "agent/segment/progress_grammar.h"
#include "agent/segment/template_traits.h"
#include "common/base/flat_table.h"
#include "common/wire/batch.h"

namespace l4::segment {

/// The iteration that a record marks.
struct IterationMark {
  std::int64_t iteration = 0;
  bool counted = false;  ///< counted by the segmenter, because no number is printed
  wire::Boundary boundary = wire::Boundary::completed;
  wire::Reach reach = wire::Reach::unknown;
  bool beside = false;  ///< marked by a progress bar that stands before the text on its line
  const IterationMarker* rule = nullptr;  ///< null if the marker was learned
  std::int64_t before = 0;                ///< iterations of earlier epochs
  std::uint16_t numbering = 0;  ///< grows when other numbers begin that do not continue the former
};

class Segmenter {
 public:
  /// `where`: for each of the segment's events the bytes from its first to its last record.
  using Sink = std::function<void(wire::Segment&&, std::span<const wire::ByteRange> where)>;
  static constexpr std::size_t kRunsMax = 4096;
  static constexpr std::size_t kTuplesMax = 8;
  static constexpr std::uint32_t kTupleRecordsMax = 64;  ///< records of a template read for tuples
  static constexpr std::uint64_t kSegmentBytesMax = 4u << 20;
  static constexpr Millis kSlice{1000};

  Segmenter(SourceId source, Sink sink, IterationLearner learner = {})
      : source_(source), sink_(std::move(sink)), learner_(std::move(learner)) {}

  /// The iteration that the record marks, if it marks one. Learns from the record: called once for
  /// each record, before add().
  std::optional<IterationMark> mark_of(const decode::Record& record, LocalTemplateId id,
                                       const TemplateTraits& traits);
  /// Adds the record to the open segment. `stack_stage`: the stage that the functions of a
  /// traceback belong to. `silent`: the record is known to have no parameters.
  void add(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits,
           std::optional<IterationMark> mark, Stage stack_stage = Stage::unknown,
           bool silent = false);
  void add(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits) {
    add(record, id, traits, mark_of(record, id, traits));
  }
  /// Forgets the marker, because its numbers count no iterations. Until another marker appears,
  /// segments are cut by time.
  void lose_marker() {
    forget_counted();
    has_marker_ = false;
  }
  /// True if the last record was searched for parameters and has none.
  bool was_silent() const { return was_silent_; }
  void finish();
  /// Closes the open segment so that it can be shipped; the current iteration and stage continue in
  /// the next one.
  void cut();
  /// A segment keeps `free` items in any case, and one more for each `bytes_for_one` bytes of its
  /// text: lines that come by the thousand a second are worth less than their transport.
  struct Share {
    std::size_t free = 0;
    std::uint64_t bytes_for_one = 0;
  };
  void set_shares(Share runs, Share tuples) {
    runs_ = runs;
    tuples_ = tuples;
  }
  /// Sets the time of arrival of the records that follow; offline it is not known.
  void set_arrival(TimeMs now) { arrival_ = now; }

  /// The marker and why it was taken; empty if nothing marks iterations by printed numbers.
  std::optional<wire::Marker> marker_taken() const;

  /// Hands out the learner for the segmenter of the file's next run; this segmenter must not be
  /// used afterwards.
  IterationLearner release_learner() { return std::move(learner_); }

  /// Templates that the open segment mentions.
  const std::vector<wire::EventCount>& open_events() const { return open_.events; }
  SourceId source() const { return source_; }
  /// The iteration that the last record belongs to; empty if none was printed yet.
  std::optional<Iteration> iteration() const {
    if (marks_counted_) return std::nullopt;
    return open_.iteration ? open_.iteration : completed_;
  }
  /// The template whose lines mark iterations, if there is one.
  std::optional<LocalTemplateId> marker() const { return marker_template_; }
  /// The number of marked iterations; 0 if they were counted by signs of progress.
  std::uint64_t marks() const { return marks_counted_ ? 0 : marks_; }

 private:
  std::optional<IterationMark> pack_mark(const decode::Record& record,
                                         const IterationMarker& marker, ReadHint& hint);
  std::optional<IterationMark> learned_mark(const decode::Record& record, LocalTemplateId id,
                                            bool promising);
  std::optional<IterationMark> counted_mark(bool sign);
  bool comes_too_soon(std::optional<TimeMs> time);
  void forget_numbers();
  IterationMark numbered(const Progress& progress, const IterationMarker* rule, MarkerKind kind);
  void note_announced(std::string_view text);
  bool continues(std::int64_t number) const;
  void number_anew();
  bool contradicts(const IterationMark& mark, LocalTemplateId id, const IterationMarker* rule);
  void append(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits,
              bool silent);
  void forget_counted();
  void enter(const IterationMark& mark, bool starts);
  void complete(std::int64_t iteration);
  void complete_before(const decode::Record& record, const IterationMark& mark);
  void add_drawing(const decode::Record& record);
  void note_bar(const decode::Record& record, const std::optional<IterationMark>& mark);
  void complete_bar();
  void add_parameters(const decode::Record& record, LocalTemplateId id);
  void add_timers(const decode::Record& record, const TemplateTraits& traits);
  void add_durations(const decode::Record& record, const TemplateTraits& traits);
  void add_time(std::uint16_t timer, double ms);
  bool is_clock(std::uint16_t timer, double ms);
  wire::EventCount& event_of(LocalTemplateId id);
  void note_where(std::size_t event, const decode::Record& record);
  bool is_full(const Share& share, std::size_t size) const;
  bool cuts_rounds() const;
  bool order_is_full() const;
  bool parameters_are_full(bool first) const;
  bool slice_is_full(const decode::Record& record) const;
  void note_time(TimeMs time);
  void close(wire::Boundary boundary);

  SourceId source_;
  Sink sink_;
  IterationLearner learner_;
  EpochCounter epochs_;
  wire::Segment open_;
  std::vector<wire::ByteRange> where_;  // by index of open_.events
  FlatTable<std::uint32_t> places_;     // index in open_.events, by template; empty while few
  Stage stage_ = Stage::unknown;
  Stage stage_before_ = Stage::unknown;
  std::optional<Iteration> completed_;
  std::int64_t stride_ = 0;  ///< distance of the last two completed iterations
  int contradictions_ = 0;   ///< marks in a row that contradict the leading marker
  std::optional<LocalTemplateId> marker_template_;
  const IterationMarker* marker_rule_ = nullptr;  ///< the leading template's; null: learned
  bool has_pack_marker_ = false;                  ///< a rule pack knows the marker of this source
  bool has_number_ = false;                       ///< the source prints iteration numbers
  bool fractions_ = false;                        ///< numbers of its pack's lines have fractions
  std::optional<TimeMs> sign_time_;  ///< of the newest line with a fraction that counted
  std::uint32_t learned_ = 0;  ///< IterationLearner::changes() at the last number; 0: a pack's
  int strays_ = 0;             ///< learned marks since the rule pack's last one
  int patience_ = 6;           ///< so many of them show that the pack's line comes no more
  std::uint16_t numbering_ = 0;
  bool numbered_before_ = false;  ///< a number was counted in this numbering
  bool has_marker_ = false;
  bool marks_counted_ = false;  ///< the last mark was counted, not printed
  std::uint64_t marks_ = 0;
  BeatLearner beats_;
  std::uint32_t beat_of_mark_ = 0;    ///< the newest when the last number was printed
  std::uint32_t rounds_between_ = 0;  ///< rounds between the last two numbers
  /// How a time went that lines print: what only grows or only falls measures no phase.
  struct Heard {
    std::uint16_t timer = 0, rises = 0, falls = 0;
    double last_ms = 0;
  };
  std::vector<Heard> heard_;  ///< at most kHeardMax
  /// The newest bar that is not the marker, and how often in a row the marker printed its count.
  struct Beside {
    std::int64_t count = 0;
    std::uint64_t line = 0, byte = 0;  ///< its line; where the newest record ends
    std::optional<TimeMs> time;        ///< by its clock, else the stamp before it
    int agreed = 0;
  };
  Beside beside_;
  std::vector<wire::Parameter> values_;  ///< parameters of the current record
  bool was_silent_ = false;
  std::optional<TimeMs> arrival_;
  std::optional<TimeMs> last_time_;
  BarClock bar_clock_;
  std::optional<TimeMs> drawn_at_;  ///< the bar of the current record, as far as is known
  int times_ = 0, times_back_ = 0;  ///< times of the current block; those that fell by a slice
  bool clock_jumps_ = false;        ///< printed times jump back and forth, and cut nothing
  Share runs_{kRunsMax, 1};
  std::optional<Share> tuples_;  ///< parameter tuples; empty: kTuplesMax for each template
  std::int64_t ticks_ = 0;       ///< signs of progress, counted if no number is printed
};

}  // namespace l4::segment
