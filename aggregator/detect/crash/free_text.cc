#include "aggregator/detect/crash/free_text.h"

#include <cstdint>

#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::detect::crash {
namespace {

constexpr double kSurvivedMin = 3;    // different lines that changed nothing
constexpr double kExpectedMin = 0.1;  // fewer expected ones excuse none at the end
constexpr double kEnd = 0.7;          // share of the lines before the end, if no iteration shows it

/// Lines of one stream that only sound like a failure, each text once.
struct Sounding {
  double survived = 0, last = 0;  ///< before and at the end
};

/// Last line that surely was not the end.
double end_of_progress(const job::Stream& stream) {
  return stream.last_completed ? static_cast<double>(stream.last_completed_line)
                               : kEnd * static_cast<double>(stream.last_line);
}

bool is_free_text(const job::Stream& stream, const Sounding& sounding) {
  const double before = end_of_progress(stream);
  if (sounding.survived < kSurvivedMin || before < 1) return false;
  const double behind = static_cast<double>(stream.last_line) - before;
  const double expected = sounding.survived * behind / before;
  return sounding.last == 0 || (expected >= kExpectedMin && sounding.last <= 2 * expected + 1);
}

}  // namespace

std::vector<bool> find_free_text(const job::JobView& view, const std::vector<EventHint>& hints) {
  std::vector<Sounding> soundings(view.streams.size());
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    if (!hints[i].by_words || hints[i].severity < Severity::failure) continue;
    for (const job::Occurrence& at : view.events[i].at) {
      const job::Stream& stream = *view.streams[at.stream].state;
      Sounding& sounding = soundings[at.stream];
      const bool early = static_cast<double>(at.stats.first_line) <= end_of_progress(stream);
      ++(early ? sounding.survived : sounding.last);
    }
  }
  std::vector<bool> free(view.streams.size());
  for (std::size_t i = 0; i < free.size(); ++i)
    free[i] = is_free_text(*view.streams[i].state, soundings[i]);
  return free;
}

}  // namespace l4::detect::crash
