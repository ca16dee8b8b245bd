#include "offline/file_times.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace l4::offline {
namespace {

const TimeMs kEnd = from_civil(2026, 11, 20, 16, 0, 0, 0);

/// A job of four files whose last lines are a second apart, with these file times.
bool copied(std::array<Millis, 4> after_last_line) {
  job::TemplateTable templates;
  job::JobState state("job", 0, templates);
  wire::Batch batch;
  batch.agent = "node-00";
  for (std::uint32_t i = 0; i < after_last_line.size(); ++i) {
    const TimeMs last = kEnd + std::chrono::seconds(i);
    wire::SourceDefinition source;
    source.id = SourceId{i};
    source.path = "rank" + std::to_string(i) + ".log";
    source.modified = last + after_last_line[i];
    batch.sources.push_back(source);
    wire::Segment segment;
    segment.source = source.id;
    segment.begin = segment.end = last;
    batch.segments.push_back(segment);
  }
  REQUIRE(state.apply(batch));
  return times_of_copy(state);
}

TEST_CASE("file times: of the logs, of the logs in another zone, of a copy") {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  CHECK_FALSE(copied({seconds(0), seconds(1), seconds(2), seconds(0)}));
  CHECK_FALSE(copied({hours(8), hours(8) + seconds(1), hours(8), hours(8) + seconds(3)}));
  CHECK_FALSE(copied({-minutes(330), -minutes(330), -minutes(330), -minutes(330)}));
  CHECK_FALSE(copied({seconds(0), seconds(0), seconds(0), minutes(67)}));
  CHECK(copied({minutes(67), minutes(67), minutes(68), minutes(69)}));
}

}  // namespace
}  // namespace l4::offline
