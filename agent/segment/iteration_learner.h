// Finds the counter that tells how far a source's training is, where no rule pack names it.
//
// Place in the flow: the segmenter asks it for every record that no rule pack marks. The counters
// (progress_grammar.h) of all templates compete by what a training clock does. What stands beside a
// counter gives its standing: a counted thing with a loss, a rate or a time beside it is strong, a
// word alone fair, a bar, an epoch or samples alone weak, a number without any sign bare. The
// weaker it is, the more often it must grow before it is taken; what loads, converts or saves is
// never taken. A better standing wins at once; among equals the finer step wins, and a counter that
// goes on after the marker has ended wins once it has lasted longer (an evaluation does not, a
// download bar loses to the training that follows). If the marker then goes on where it was, it
// had not ended, and leads for good. A counter that begins again wins nothing from
// one that does not.
//
// Lines are judged as they come, and a marker that becomes known late changes nothing before it:
// lines of the first iterations stay without a number. If the marker changes and its numbers do not
// continue the former's, the segmenter numbers anew, and the aggregator forgets the former numbers.
// One per source, one thread. Bounds: kTemplatesMax templates (one that never counted is evicted
// first) and Counters::kMax numbers of each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/segment/announced_totals.h"
#include "agent/segment/progress_grammar.h"
#include "agent/segment/rule_pack.h"
#include "agent/segment/table_head.h"
#include "common/base/flat_table.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/wire/definitions.h"

namespace l4::segment {

/// How much speaks for a counter, the best last.
enum class Standing : std::uint8_t { none, bare, weak, fair, strong };

class IterationLearner {
 public:
  /// Where and when a record stands; lines are from 1 and grow.
  struct Moment {
    std::uint64_t line = 0;
    std::optional<TimeMs> time;
  };
  struct Learned {
    Progress progress;
    std::optional<std::int64_t> epoch;  ///< printed beside it
    std::int64_t epoch_total = 0;       ///< 0 if none is printed
    bool drawn = false;                 ///< by a bar
    bool of_epochs = false;             ///< the marker counts epochs
  };

  /// How a line is read. `drawn`: it holds a bar, so it is read whatever its template. `promising`:
  /// is_promising() holds for its template, so it gets room.
  struct Reading {
    bool drawn = false, promising = false;
  };
  /// The iteration number, if `message` is a line of the marker.
  std::optional<Learned> observe(LocalTemplateId id, std::string_view message, const Moment& now,
                                 Reading reading);
  std::optional<Learned> observe(LocalTemplateId id, std::string_view message, const Moment& now) {
    return observe(id, message, now, {});
  }
  /// A counter of the line has the standing of a marker at first sight: asked once for a template.
  static bool is_promising(std::string_view line);
  /// The same for a bar that the decoder removed, because text was printed on its line. `drawn`: as
  /// it stood there; its words and the unit of its rate tell its kind. `in_training`: such a bar is
  /// believed at once, unless it counts something else.
  std::optional<Learned> observe_bar(const Progress& bar, std::string_view drawn, const Moment& now,
                                     bool in_training);

  /// The totals that were announced in the file so far; the next run's learner keeps them.
  AnnouncedTotals& announced() { return announced_; }
  /// The last line held a bar at a number at which it had been drawn before.
  bool redrawn() const { return redrawn_; }
  /// Increases whenever another counter becomes the marker; 0 while there is none.
  std::uint32_t changes() const { return changes_; }
  /// wire::MarkerGround bits of the marker.
  std::uint8_t grounds() const { return grounds_; }
  Standing standing() const { return leader_ ? leader().standing : Standing::none; }

 private:
  static constexpr std::size_t kTemplatesMax = 128;  ///< an index into watched_ fits into a byte

  struct Field {
    std::int64_t last = 0, total = 0, step = 0;
    std::uint32_t first_line = 0, last_line = 0;  ///< at which it was seen to grow
    std::uint32_t run_line = 0;                   ///< at which its present streak began
    std::uint32_t name = 0;
    std::optional<TimeMs> first_time, last_time, run_time;
    std::optional<Millis> clock;  ///< of a bar: how long its loop has run
    std::uint16_t streak = 0;
    std::uint32_t lines = 0;    ///< that had it
    std::uint16_t changes = 0;  ///< how often it had another value
    std::uint16_t falls = 0;    ///< how often it began again, without an epoch that grew
    std::uint16_t strays = 0;   ///< how often it grew far behind the marker, since that began
    Unit unit = Unit::unknown;
    Sign sign = Sign::none;
    bool in_epoch = false;
    bool leads = false;
    bool paused = false;  ///< it ran while the marker paused, as an evaluation does
    Standing standing = Standing::none;
  };
  struct Watched {
    LocalTemplateId id;
    std::array<Field, Counters::kMax> fields{};
    std::optional<std::int64_t> epoch = {};
    Company company = {};
    std::uint16_t best_streak = 0;
    bool counts = false;  ///< a line of it had a counter
    bool rows = false;    ///< its lines are rows of a table
    std::uint32_t seen = 0;
    /// Many lines were seen and no number grew: the template is not examined any more.
    bool hopeless() const;
  };
  struct Place {
    std::size_t watched = 0, field = 0;
    bool operator==(const Place&) const = default;
  };

  std::optional<std::size_t> watch(LocalTemplateId id, bool urgent = false);
  void read_row(Watched& watched, std::string_view line, Counters& counters) const;
  static void note_company(Watched& watched, std::string_view line, std::optional<BarKind> bar);
  /// What is known of a line beside its counters. `clock`: its bar's.
  struct Seen {
    Moment now;
    bool trusted = false;
    std::optional<Millis> clock;
  };
  std::optional<Learned> contest(std::size_t place, const Counters& counters, const Seen& seen);
  void count(Watched& watched, std::size_t index, const Counters& counters, const Moment& now);
  bool convinces(const Field& field, const Watched& watched, const Counters& counters,
                 const Moment& now, bool trusted) const;
  bool is_better(const Field& field) const;
  bool outlasts_leader(const Field& field) const;
  bool is_former(const Place& place, std::int64_t before) const;
  bool continues_leader(const Field& field, const Counter& counter, const Counters& counters) const;
  bool strays(const Field& field) const;
  void forget_strays();
  static bool is_redrawn(const Watched& watched, const Counters& counters, bool running);
  void lead(const Place& place, const Counters& counters);
  const Field& leader() const { return watched_[leader_->watched].fields[leader_->field]; }
  Field& leader() { return watched_[leader_->watched].fields[leader_->field]; }

  std::vector<Watched> watched_;
  FlatTable<std::uint8_t> places_;  // index in watched_, by template; read for every line
  std::size_t oldest_ = 0;          ///< where the search for a template to evict begins
  std::uint32_t refused_ = 0;       ///< templates that found no room
  std::optional<TableHead> table_;  ///< the last head of a table
  std::optional<Place> leader_;
  std::optional<Place> former_;  ///< the marker that the present one has outlasted
  std::uint32_t changes_ = 0;
  bool redrawn_ = false;
  std::uint8_t grounds_ = 0;
  AnnouncedTotals announced_;
};

}  // namespace l4::segment
