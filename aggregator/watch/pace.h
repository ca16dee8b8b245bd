// Whether iterations have become slower, estimated cheaply as they come.
//
// Flow: watch::Progress adds what an iteration took; JobWatch asks for a full diagnosis when recent
// iterations typically take longer than earlier ones, or when many more of them are long.
// detect/slow has the last word. Uses lower quartiles as detect/slow does: checkpoints make many
// iterations long and none short. After a diagnosis that found nothing the next request waits for
// twice as many iterations. Bounds: 200 numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aggregator/numbers/watch.h"
#include "common/base/byte_stream.h"

namespace l4::watch {

class Pace {
 public:
  static constexpr std::size_t kKept = 200;  ///< iterations

  void add(double iteration_ms);
  /// True if iterations are slower and that was not reported yet, or long ago.
  bool ask();
  bool slower() const {
    return (slower_ || stutters_) && slow_ms_ >= numbers::watch().pace_lasting_ms;
  }
  /// So many of the newest iterations are long, where the typical one is not; else 0.
  int longs() const { return slower_ ? 0 : std::popcount(longs_); }
  double ratio() const { return ratio_; }
  double before_ms() const { return before_ms_; }
  void forget() { *this = Pace(); }

  /// Without what asks for a diagnosis because only some iterations are long.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void note_long(double iteration_ms);
  void begin_slow_phase(std::size_t iterations);

  std::vector<double> kept_;  // oldest first
  std::size_t added_ = 0, asked_at_ = 0, wait_ = 0;
  double ratio_ = 1, before_ms_ = 0;
  double slow_ms_ = 0;  ///< duration of the slow phase
  bool slower_ = false, stutters_ = false;
  std::uint32_t longs_ = 0;   ///< which of the newest iterations are long, as bits
  std::uint64_t judged_ = 0;  ///< iterations told long or not
  double earlier_longs_ = 0;  ///< part of long ones before the newest
};

}  // namespace l4::watch
