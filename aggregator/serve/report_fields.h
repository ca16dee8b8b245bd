// Names and order of the report's fields, written once for the writer and the reader of its JSON.
//
// `fields(visitor, value)` calls `visitor(name, field)` for each field in the order of
// schemas/report.schema.json; the value is const for the writer and not for the reader. Fields that
// kReportSchemaBefore does not have go through `new_field`; those that earlier programs did not
// write through `optional_field`: an empty value is left out. Private to this room.
#pragma once

#include <string_view>

#include "aggregator/serve/finding_fields.h"
#include "aggregator/serve/notice_fields.h"

namespace l4::serve {

inline constexpr std::string_view kReportSchema = "l4.report/2";
inline constexpr std::string_view kReportSchemaBefore = "l4.report/1";  ///< read, never written

template <class V, Is<diagnose::AttemptSummary> T>
void fields(V& v, T& attempt) {
  v("attempt", attempt.attempt);
  v("state", attempt.state);
  v("since", attempt.since);
  v("iteration", attempt.iteration);
}

template <class V, Is<diagnose::JobSummary> T>
void fields(V& v, T& job) {
  v("id", job.id);
  v("attempt", job.attempt);
  v("attempts", job.attempts);
  v("nodes", job.nodes);
  v("ranks", job.ranks);
  v("sources", job.sources);
  v("lines", job.lines);
  v("bytes", job.bytes);
  v("begin", job.begin);
  v("end", job.end);
  v("completeness", job.completeness);
}

template <class V, Is<diagnose::Verdict> T>
void fields(V& v, T& verdict) {
  v("state", verdict.state);
  v("scope", verdict.scope);
  v("since", verdict.since);
  v("stage", verdict.stage);
  v("iteration", verdict.iteration);
  v("confidence", verdict.confidence);
  v("summary", verdict.summary);
}

template <class V, Is<diagnose::PoolUse> T>
void fields(V& v, T& pool) {
  v("used", pool.used);
  v("jobs", pool.jobs);
  v("events_dropped", pool.events_dropped);
}

template <class V, Is<wire::Warning> T>
void fields(V& v, T& warning) {
  v("kind", warning.kind);
  v("file", warning.file);
  v("reason", warning.reason);
  v("bytes", warning.bytes);
}

/// The object `generator`, which holds two members of Report.
template <class Text>
struct Generator {
  Text& version;
  Text& scoring;
};

template <class V, class Text>
void fields(V& v, Generator<Text>& generator) {
  v("version", generator.version);
  v("scoring", generator.scoring);
}

template <class V, Is<diagnose::Report> T>
void fields(V& v, T& report) {
  v.schema("schema");
  Generator generator{report.version, report.scoring};
  v("generator", generator);
  v("job", report.job);
  v("verdict", report.verdict);
  v("nodes", report.nodes);
  v("ranks", report.ranks);
  v("events", report.events);
  v("iterations", report.iterations);
  v("stages", report.stages);
  v("faults", report.faults);
  v("pool", report.pool);
  v("warnings", report.warnings);
  v.new_field("notable", report.notable);
  v.new_field("advice", report.advice);
  v.new_field("clues", report.clues);
  v.new_field("evidence", report.evidence);
  v.new_field("read", report.read);
  v.optional_field("certainty", report.certainty);
}

}  // namespace l4::serve
