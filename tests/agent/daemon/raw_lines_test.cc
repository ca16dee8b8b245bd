#include "agent/daemon/raw_lines.h"

#include <doctest/doctest.h>

#include "common/wire/codec/lines_codec.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::daemon {
namespace {

using segment::test::packs;

TEST_CASE("raw lines: under pressure questions are refused, and that step is counted") {
  const Settings settings;
  Jobs jobs(packs(), settings.pipeline, {}, [](wire::Batch&&) {});
  OwnLog log(false);
  RawLines lines(settings, jobs, log);
  wire::LinesQuestion question;
  question.job = "job-1";
  question.lines_max = 10;
  question.bytes_max = question.timeout_ms = 1'000;
  question.files.emplace_back().path = "rank0.log";
  const wire::Ask ask{7, std::string(wire::kLinesTopic), wire::encode(question)};
  lines.ask(ask, nullptr, {}, Millis{0});
  CHECK(lines.counts().questions == 1);
  CHECK(lines.counts().shed == 0);
  lines.ask(ask, nullptr, "batches wait", Millis{0});
  lines.ask(ask, nullptr, "memory", Millis{0});
  CHECK(lines.counts().questions == 3);
  CHECK(lines.counts().shed == 2);
  CHECK(lines.counts().refused == 2);
}

}  // namespace
}  // namespace l4::daemon
