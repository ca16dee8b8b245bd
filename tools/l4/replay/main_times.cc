#include "tools/l4/replay/main_times.h"

#include <algorithm>
#include <chrono>

namespace l4::replay {

MainTimes::MainTimes(const std::vector<LineTimes>& times) {
  constexpr Millis kGap = std::chrono::days{1};
  constexpr std::size_t kShare = 10;
  std::vector<TimeMs> all;
  for (const LineTimes& log : times)
    for (const Line& line : log.lines)
      if (line.time) all.push_back(*line.time);
  std::ranges::sort(all);
  std::vector<std::size_t> ends;  // of the parts
  for (std::size_t i = 1; i <= all.size(); ++i)
    if (i == all.size() || all[i] - all[i - 1] > kGap) ends.push_back(i);
  std::size_t most = 0;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    most = std::max(most, end - begin);
    begin = end;
  }
  begin = 0;
  for (const std::size_t end : ends) {
    if ((end - begin) * kShare >= most) spans_.emplace_back(all[begin], all[end - 1]);
    begin = end;
  }
}

bool MainTimes::holds(TimeMs time) const {
  return std::ranges::any_of(
      spans_, [&](const auto& span) { return span.first <= time && time <= span.second; });
}

}  // namespace l4::replay
