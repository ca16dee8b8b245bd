#include "common/wire/definitions.h"

namespace l4::wire {

std::string reason_of(const Marker& marker) {
  if ((marker.grounds & kGroundPack) != 0) return "rule pack " + marker.pack + " names it";
  const auto has = [&](MarkerGround ground) { return (marker.grounds & ground) != 0; };
  std::string reason = has(kGroundOtherUnit) ? "a number of epochs or samples"
                       : has(kGroundWord)    ? "a number beside a word for iterations"
                       : has(kGroundBar)     ? "the number of a progress bar"
                                             : "a number";
  reason += has(kGroundTotal) ? ", with its total, that grows" : " that grows";
  if (has(kGroundEpoch)) reason += ", beside an epoch";
  if (has(kGroundMeasured)) reason += ", with a loss, a rate or a time on its line";
  if (has(kGroundEvaluation))
    reason += "; its line is about an evaluation, nothing better was found";
  return reason;
}

}  // namespace l4::wire
