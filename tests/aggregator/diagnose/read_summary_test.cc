// What the report tells of its files: the worst first, no more than asked for.
#include "aggregator/diagnose/read_summary.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/job/job_state.h"
#include "common/wire/batch.h"

namespace l4::diagnose {
namespace {

/// Of one node: a file for each of these, with 10 lines of which so many have a time.
job::JobState state_of(job::TemplateTable& templates, const std::vector<std::uint64_t>& timed) {
  wire::Batch batch;
  batch.agent = "node-1";
  for (std::uint32_t i = 0; i < timed.size(); ++i) {
    wire::SourceDefinition source;
    source.id = SourceId{i};
    source.path = "rank" + std::to_string(i) + ".log";
    source.node = batch.agent;
    source.rank = Rank{static_cast<std::int32_t>(i)};
    batch.sources.push_back(source);
    wire::FileReading reading;
    reading.path = source.path;
    reading.lines = 10;
    reading.timed = timed[i];
    batch.readings.push_back(reading);
  }
  batch.warnings.push_back({"too_long", "rank1.log", "a line", 7});
  batch.warnings.push_back({"unreadable", "gone.log", "no such file", 0});
  job::JobState state("job", 0, templates);
  CHECK(state.apply(batch));
  return state;
}

TEST_CASE("files of which something was not used come first, then those with fewest times") {
  job::TemplateTable templates;
  const ReadSummary read = summarise_reading(state_of(templates, {10, 10, 4, 7}), 4);
  CHECK(read.files == 5);
  CHECK(read.understood.lines == 40);
  CHECK(read.understood.timed == 31.0 / 40);
  REQUIRE(read.sources.size() == 4);
  CHECK(read.sources[0].file == "rank1.log");
  CHECK(read.sources[0].unused == std::vector<std::string>{"too_long: a line (7 bytes)"});
  CHECK(read.sources[0].understood.lines == 10);
  CHECK(read.sources[1].file == "gone.log");
  CHECK(read.sources[1].node.empty());
  CHECK(read.sources[1].unused == std::vector<std::string>{"unreadable: no such file"});
  CHECK(read.sources[2].file == "rank2.log");
  CHECK(read.sources[2].node == "node-1");
  CHECK(read.sources[2].understood.timed == 0.4);
  CHECK(read.sources[2].unused.empty());
  CHECK(read.sources[3].file == "rank3.log");
}

TEST_CASE("all files are listed where that is asked for") {
  job::TemplateTable templates;
  const ReadSummary read = summarise_reading(state_of(templates, {10, 10, 4, 7}), 100);
  REQUIRE(read.sources.size() == 5);
  CHECK(read.sources.back().file == "rank0.log");
}

}  // namespace
}  // namespace l4::diagnose
