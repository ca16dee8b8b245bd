// Temporal comparison exactly as published (the paper, 5.3.2), for `scoring = "paper"`.
//
// Flow: diagnose -> score_iterations_paper(one stream's sequences in order). Pure. An iteration's
// score is the mean DTW distance (0/1 cell cost, sequences as given) to the previous ten, fewer at
// the start; from the tenth on it is abnormal above mu + 3 sigma (population) of all earlier
// scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/detect/temporal/dtw.h"

namespace l4::detect::temporal {

struct PaperIteration {
  double score = 0;
  std::size_t nearest = 0;  ///< smallest distance; 0 for the first iteration
  double mean = 0;          ///< mean of all earlier scores
  double deviation = 0;     ///< standard deviation of all earlier scores
  bool abnormal = false;
};

/// One entry per sequence, in the same order.
std::vector<PaperIteration> score_iterations_paper(std::span<const Sequence> iterations);

}  // namespace l4::detect::temporal
