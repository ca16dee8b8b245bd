// The agent's figures as Prometheus reads them: totals of now, rendered once.
#include <string_view>

#include "agent/daemon/agent.h"
#include "common/metrics/families.h"

namespace l4::daemon {
namespace {

using metrics::Families;
using metrics::seconds;

/// Each step by what it leaves out: questions for examples, runs of order, tuples of parameters,
/// counts of templates; segments, where a batch is too long even without.
void put_shed(Families& to, const ship::SessionStats& stats, std::uint64_t lines_refused) {
  const auto steps = [&](const char* name, const char* help, const ship::ShedCounts& counts) {
    to.counter(name, help, counts.order_runs, {"step", "order"});
    to.counter(name, help, counts.parameter_tuples, {"step", "parameters"});
    to.counter(name, help, counts.counts, {"step", "counts"});
  };
  constexpr const char* kShed = "shed_total";
  constexpr const char* kShedHelp = "what was left out as it could not be sent fast enough";
  steps(kShed, kShedHelp, stats.shed);
  to.counter(kShed, kShedHelp, lines_refused, {"step", "examples"});
  constexpr const char* kOversize = "shed_oversize_total";
  constexpr const char* kOversizeHelp = "what was left out so that a batch fits into a message";
  steps(kOversize, kOversizeHelp, stats.oversize);
  to.counter(kOversize, kOversizeHelp, stats.oversize.segments, {"step", "segments"});
  constexpr const char* kBatches = "shed_batches_total";
  constexpr const char* kBatchesHelp = "batches of which something was left out";
  to.counter(kBatches, kBatchesHelp, stats.shed.batches, {"reason", "pressure"});
  to.counter(kBatches, kBatchesHelp, stats.oversize.batches, {"reason", "size"});
}

void put_link(Families& to, const ship::Session& session, std::uint64_t lines_refused) {
  const ship::SessionStats& stats = session.stats();
  to.gauge("connected", "1 while the aggregator takes batches",
           session.state() == ship::Session::State::open);
  to.counter("connects_total", "tries to connect", stats.connects);
  to.counter("resets_total", "times that all was read again from what is committed", stats.resets);
  to.counter("batches_total", "batches that were made", stats.batches_offered);
  to.counter("batches_sent_total", "batches that were sent", stats.batches_sent);
  to.counter("batches_sent_again_total", "of those, batches that were sent before",
             stats.batches_sent_again);
  to.counter("batches_committed_total", "batches that the aggregator has", stats.batches_committed);
  to.counter("batches_refused_total", "batches that the aggregator refused", stats.batches_refused);
  to.counter("sent_bytes_total", "bytes of batches that were sent", stats.bytes_sent);
  to.counter("messages_malformed_total", "messages of the aggregator that cannot be read",
             stats.messages_malformed);
  to.gauge("shedding", "what is left out: 0 nothing, 1 examples, 2 order, 3 parameters, 4 counts",
           static_cast<int>(session.pressure()));
  put_shed(to, stats, lines_refused);
  if (const auto clock = session.clock())
    to.gauge("clock_offset_seconds", "what the aggregator's clock is ahead of ours",
             seconds(clock->offset));
}

void put_queue(Families& to, const ship::Queue& queue, const ship::QueueOptions& bounds) {
  to.gauge("held_batches", "batches that the aggregator does not have yet", queue.size());
  to.gauge("held_limit_batches", "how many there may be", bounds.batches_max);
  to.gauge("held_bytes", "bytes of them, in memory and spool", queue.bytes());
  to.gauge("held_ratio", "0 empty to 1 full, by bytes or by number; full, nothing more is read",
           queue.fill());
  to.gauge("spool_bytes", "bytes in the spool", queue.spool_bytes());
  to.gauge("spool_limit_bytes", "how many there may be",
           bounds.spool.empty() ? 0 : bounds.spool_bytes_max);
  to.gauge("spool_failing", "1 while the spool cannot be written", !queue.disk_error().empty());
}

void put_logs(Families& to, const tail::Counters& tail, const Intake::Counts& intake) {
  to.gauge("logs", "logs that are followed", tail.logs);
  to.gauge("files", "files that are known", tail.files);
  to.gauge("open_files", "files that are open", tail.open_files);
  to.counter("read_bytes_total", "bytes of logs that were read", tail.bytes);
  to.counter("lost_bytes_total", "bytes of logs that went away before they were read",
             intake.lost_bytes);
  to.counter("skipped_bytes_total", "bytes of logs that are not wanted", intake.skipped_bytes);
  to.counter("warnings_total", "warnings about logs", intake.warnings);
  to.counter("rotations_total", "logs that were rotated", tail.rotations);
  to.counter("truncations_total", "logs that were truncated", tail.truncations);
  to.counter("files_closed_total", "files that were closed as there were too many open",
             tail.closed_for_others);
  to.counter("read_errors_total", "reads that failed", tail.read_errors);
  to.gauge("files_left_out", "files beyond the bound", tail.left_out);
}

void put_limits(Families& to, const host::Limits& limits) {
  const auto passed = [&](std::string_view limit, std::uint64_t count, bool over) {
    to.counter("limit_passed_total", "times that a bound was passed", count, {"limit", limit});
    to.gauge("limit_over", "1 while that bound is passed", over, {"limit", limit});
  };
  to.gauge("cpu_limit_ratio", "processor time that may be used; 1 is a core, 0 is no bound",
           limits.bounds().cpu_share);
  to.gauge("memory_limit_bytes", "memory that may be used; 0 is no bound",
           limits.bounds().resident_bytes);
  to.gauge("descriptors_limit", "open files that there may be", limits.bounds().descriptors);
  passed("cpu", limits.stats().cpu_passed, limits.over_cpu());
  passed("memory", limits.stats().memory_passed, limits.over_memory());
  passed("descriptors", limits.stats().descriptors_passed, limits.over_descriptors());
}

}  // namespace

std::string Agent::metrics() const {
  Families to("l4_agent_");
  put_link(to, session_, raw_lines_.counts().shed);
  put_queue(to, session_.queue(), settings_.queue);
  put_logs(to, tailer_ ? tailer_->counters() : tail::Counters{}, intake_.counts());
  put_limits(to, limits_);
  to.counter("lines_total", "lines of logs that the aggregator has", lines_committed_);
  to.counter("kernel_lines_total", "messages of the kernel that tell of a fault",
             kernel_ ? kernel_->lines() : 0);
  const RawLines::Counts& raw = raw_lines_.counts();
  to.counter("questions_total", "questions for raw lines", raw.questions);
  to.counter("questions_refused_total", "of those, questions that were not answered", raw.refused);
  to.counter("answered_lines_total", "raw lines that were given", raw.lines);
  to.counter("redacted_lines_total", "of those, lines of which something was blotted out",
             raw.redacted);
  to.counter("questions_read_bytes_total", "bytes of logs that were read for questions",
             raw.bytes_read);
  to.gauge("jobs", "jobs whose logs are followed", jobs_.size());
  to.counter("jobs_refused_total", "jobs beyond the bound", jobs_.refused());
  to.gauge("reading", "0 while no log is read: no room, no processor time, or no position yet",
           may_read());
  to.process();
  return to.text();
}

}  // namespace l4::daemon
