// Cuts the events of one source into segments: iterations, stages, one-second slices.
//
// Place in the flow: Drain -> here -> batch (design.md 3 "segment"). A line that completes
// iteration k ends the segment of k; a line that starts k begins one; a line that a rule pack ties
// to a stage begins one too. Where only signs of progress are printed and no number, they are
// counted instead. One per source, one thread; the open segment is all it owns. What begins a new
// run of the same file gets a new segmenter that goes on with what the old one has learned.
// Bounds of a segment: 4,096 runs of order and 8 parameter tuples per template, of its first 64
// records; fewer where spare() says so. A source without markers closes its segment when its time
// has moved on by kSlice; where times jump to and fro, when records have arrived for so long.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "agent/decode/record.h"
#include "agent/segment/epoch_counter.h"
#include "agent/segment/iteration_learner.h"
#include "agent/segment/template_traits.h"
#include "common/base/flat_table.h"
#include "common/wire/batch.h"

namespace l4::segment {

/// A record marks an iteration.
struct IterationMark {
  std::int64_t iteration = 0;
  bool counted = false;  ///< here, for want of a printed number
  wire::Boundary boundary = wire::Boundary::completed;
  bool beside = false;  ///< by a bar that the line's text landed on
};

class Segmenter {
 public:
  /// `where`: for each of the segment's events the bytes from its first to its last record.
  using Sink = std::function<void(wire::Segment&&, std::span<const wire::ByteRange> where)>;
  static constexpr std::size_t kRunsMax = 4096;
  static constexpr std::size_t kTuplesMax = 8;
  static constexpr std::uint32_t kTupleRecordsMax = 64;  ///< of a template that are looked at
  static constexpr std::uint64_t kSegmentBytesMax = 4u << 20;
  static constexpr Millis kSlice{1000};

  Segmenter(SourceId source, Sink sink, IterationLearner learner = {})
      : source_(source), sink_(std::move(sink)), learner_(std::move(learner)) {}

  /// What the record marks. Learns: asked once for each record, and before add().
  std::optional<IterationMark> mark_of(const decode::Record& record, LocalTemplateId id,
                                       const TemplateTraits& traits);
  /// `stack_stage`: where the record is a traceback, the stage that its functions belong to.
  /// `silent`: the record is known to have no parameters.
  void add(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits,
           std::optional<IterationMark> mark, Stage stack_stage = Stage::unknown,
           bool silent = false);
  void add(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits) {
    add(record, id, traits, mark_of(record, id, traits));
  }
  /// The numbers that marked iterations so far count nothing: text is cut by time until others do.
  void lose_marker() {
    forget_counted();
    has_marker_ = false;
  }
  /// The last record was looked at and has no parameters.
  bool was_silent() const { return was_silent_; }
  void finish();
  /// What records say of time jumps to and fro.
  bool clock_jumps() const { return clock_jumps_; }
  /// Gives what there is, so that it can be shipped; the iteration and stage under way go on.
  void cut();
  /// How much of a segment is kept in any case, and how many bytes of text there must be for one
  /// more: what is said by the thousand a second is worth less than its way over the wire.
  struct Share {
    std::size_t free = 0;
    std::uint64_t bytes_for_one = 0;
  };
  void spare(Share runs, Share tuples) {
    runs_ = runs;
    tuples_ = tuples;
  }
  /// When the records that follow arrived; not known offline.
  void arrives(TimeMs now) { arrival_ = now; }

  /// What the segmenter of the file's next run begins with; this one is done for.
  IterationLearner release_learner() { return std::move(learner_); }

  /// Templates that the open segment mentions.
  const std::vector<wire::EventCount>& open_events() const { return open_.events; }
  /// Template whose lines marked iterations, if any did.
  std::optional<LocalTemplateId> marker() const { return marker_template_; }
  /// Iterations marked; none for the file's marker where they were only counted.
  std::uint64_t marks() const { return marks_counted_ ? 0 : marks_; }

 private:
  std::optional<IterationMark> pack_mark(const decode::Record& record,
                                         const IterationMarker& marker, ReadHint& hint);
  std::optional<IterationMark> bar_mark(const decode::Record& record);
  bool contradicts(const IterationMark& mark, LocalTemplateId id, const IterationMarker* rule);
  void append(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits,
              bool silent);
  void forget_counted();
  void add_parameters(const decode::Record& record, LocalTemplateId id);
  void add_timers(const decode::Record& record, const TemplateTraits& traits);
  wire::EventCount& event_of(LocalTemplateId id);
  void note_where(std::size_t event, const decode::Record& record);
  bool is_full(const Share& share, std::size_t size) const;
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
  std::vector<wire::ByteRange> where_;  // of open_.events
  FlatTable<std::uint32_t> places_;     // in open_.events, by template; if there are many
  Stage stage_ = Stage::unknown;
  Stage stage_before_ = Stage::unknown;
  std::optional<Iteration> completed_;
  std::int64_t stride_ = 0;  ///< between the last two completed iterations
  int contradictions_ = 0;   ///< in a row, since the leading marker was last seen
  std::optional<std::int64_t> bar_total_;
  std::optional<LocalTemplateId> marker_template_;
  const IterationMarker* marker_rule_ = nullptr;  ///< of the leading template; null: learned
  bool has_pack_marker_ = false;                  ///< a rule pack knows the marker of this source
  bool has_number_ = false;                       ///< the source prints iteration numbers
  bool has_marker_ = false;
  bool marks_counted_ = false;  ///< the last mark was
  std::uint64_t marks_ = 0;
  std::vector<wire::Parameter> values_;  ///< of the record at hand
  bool was_silent_ = false;
  std::optional<TimeMs> arrival_;
  std::optional<TimeMs> last_time_;
  int times_ = 0, times_back_ = 0;  ///< of a block; the latter by more than a slice
  bool clock_jumps_ = false;        ///< to and fro: what a record says of time cuts nothing
  Share runs_{kRunsMax, 1};
  std::optional<Share> tuples_;  ///< of parameters; else kTuplesMax for each template
  std::int64_t ticks_ = 0;       ///< signs of progress counted where no number is printed
};

}  // namespace l4::segment
