// Arbitrary lines as progress: counters are sound, and the learner finds the same marker again.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/segment/iteration_learner.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::fuzz::require;
using l4::segment::Counters;
using l4::segment::IterationLearner;

void check_counters(std::string_view line) {
  Counters counters;
  l4::segment::find_counters(line, counters);
  require(counters.size <= Counters::kMax, "counters are bounded");
  require(!counters.bar || *counters.bar < counters.size, "the bar is a counter");
  for (std::size_t i = 0; i < counters.size; ++i) {
    const auto& counter = counters.items[i];
    require(counter.value >= 0, "a counter is not negative");
    require(counter.total == 0 || counter.total >= counter.value, "a total is the largest number");
  }
  const auto epoch = l4::segment::epoch_in(line);
  require(!epoch || *epoch >= 0, "an epoch is not negative");
}

std::vector<std::int64_t> marks(std::string_view text) {
  std::vector<std::int64_t> found;
  IterationLearner learner;
  IterationLearner::Moment now;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++now.line;
    check_counters(line);
    (void)l4::segment::company_of(line);
    const l4::LocalTemplateId id{static_cast<std::uint32_t>(line.size() % 200)};
    const IterationLearner::Reading reading{line.size() % 2 == 0, line.size() % 3 == 0};
    if (const auto learned = learner.observe(id, line, now, reading))
      found.push_back(learned->progress.number);
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  require(marks(input.text) == marks(input.text), "equal lines give equal marks");
  return 0;
}
