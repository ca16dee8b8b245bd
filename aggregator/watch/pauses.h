// Deadlines for progress, learned from a job's own pauses.
// Flow: watch::Progress adds each pause under its kind and asks for the deadline of the present
// pause. A pause's kind is the progress before it: an iteration done, or a checkpoint or an
// evaluation begun. Pauses before the first iteration have kinds of their own. Pure state, one
// thread. Bounds: the last 200 pauses of at most 22 kinds, 800 B each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::watch {

struct PauseKind {
  Stage stage = Stage::unknown;  ///< training: an iteration was done; else this stage began
  bool startup = true;           ///< before the first iteration
  bool operator==(const PauseKind&) const = default;
};

class Pauses {
 public:
  static constexpr std::size_t kKept = 200;

  void add(PauseKind kind, Millis pause);
  /// Sets the longest healthy pause of this kind in earlier jobs of the same kind; 0: not known. It
  /// is used until the job has pause_known pauses of its own.
  void warm(PauseKind kind, Millis longest) { warm_[place(kind)] = longest; }
  void cool() { warm_ = {}; }

  /// Longest ordinary pause of this kind, by what is known of the kind:
  /// - pause_known pauses or more: max(exp(m + 6 sigma), 2 * largest of the kind, floor). m and
  /// sigma
  ///   are median and median deviation of ln(pause); sigma is at least .1, and the first term at
  ///   most 3 * largest of the kind.
  /// - One to four pauses: max(3 * largest of the job, floor).
  /// - None, and always before the first iteration: max(3 * largest of the job, 4 * floor).
  /// - Fewer than pause_known, and a longest pause of earlier jobs: max(2 * the longer of both,
  /// floor);
  ///   before the first iteration 2 * floor stands for floor.
  Millis deadline(PauseKind kind, Millis floor) const;

  /// False for kinds never seen and for the start: their silence is only suspected.
  bool may_confirm(PauseKind kind) const;
  /// Whether the pause, not added yet, is far longer than is usual of its kind.
  bool is_long(PauseKind kind, Millis pause) const;
  std::size_t seen(PauseKind kind) const { return of(kind).count; }
  Millis largest(PauseKind kind) const { return of(kind).largest; }
  /// Median of the pauses of a kind; 0 if it was never seen.
  Millis typical(PauseKind kind) const;

  void save(ByteWriter& out) const;  ///< all but warm()
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  struct History {
    std::vector<float> logs;  // ring of ln(ms)
    std::size_t count = 0;    // pauses ever added
    Millis largest{0};
    mutable double scatter = 0;  // exp(m + 6 sigma), ms
    mutable bool fresh = false;  // scatter belongs to these logs
  };
  static double scatter_of(const History& history);
  static constexpr std::size_t kStages = static_cast<std::size_t>(Stage::exit) + 1;
  static std::size_t place(PauseKind kind) {
    return static_cast<std::size_t>(kind.stage) + (kind.startup ? kStages : 0);
  }
  const History& of(PauseKind kind) const { return kinds_[place(kind)]; }

  std::array<History, 2 * kStages> kinds_;
  std::array<Millis, 2 * kStages> warm_{};
  std::array<Millis, 2> largest_{};  // over all kinds: before the first iteration, and after
};

}  // namespace l4::watch
