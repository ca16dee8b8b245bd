// Whether iterations have become slower, estimated cheaply as they come.
//
// Flow: watch::Progress adds what an iteration took; JobWatch asks for a full diagnosis when the
// typical one of late takes longer than the typical one before. detect/slow has the last word.
// Lower quartiles, as there: checkpoints make many iterations long, none of them short. A question
// that was answered "no" is asked again after twice as many iterations. Bounds: 200 numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "common/base/byte_stream.h"

namespace l4::watch {

class Pace {
 public:
  static constexpr std::size_t kKept = 200, kBefore = 10, kRecent = 6;
  static constexpr double kRatio = 1.3, kOver = 1.15;

  static constexpr double kLastingMs = 8000;  ///< that it is slow; less may be over when it is told

  void add(double iteration_ms);
  /// It is slower, and nobody was told yet or long ago.
  bool ask();
  bool slower() const { return slower_ && slow_ms_ >= kLastingMs; }
  double ratio() const { return ratio_; }
  double before_ms() const { return before_ms_; }
  void forget() { *this = Pace(); }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  std::vector<double> kept_;  // oldest first
  std::size_t added_ = 0, asked_at_ = 0, wait_ = 0;
  double ratio_ = 1, before_ms_ = 0;
  double slow_ms_ = 0;  ///< for how long
  bool slower_ = false;
};

}  // namespace l4::watch
