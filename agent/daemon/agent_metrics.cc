#include "agent/daemon/agent_metrics.h"

#include <string_view>

#include "common/metrics/families.h"

namespace l4::daemon {
namespace {

using metrics::Families;
using metrics::seconds;

/// One counter for each step of shedding: questions for examples, runs of order, tuples of
/// parameters, counts of templates, and whole segments of a batch that is still too long.
void add_shed(Families& to, const ship::SessionStats& stats, std::uint64_t lines_refused) {
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

void add_link(Families& to, const ship::Session& session, std::uint64_t lines_refused) {
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
  add_shed(to, stats, lines_refused);
  if (const auto clock = session.clock())
    to.gauge("clock_offset_seconds", "what the aggregator's clock is ahead of ours",
             seconds(clock->offset));
}

void add_queue(Families& to, const ship::Queue& queue, const ship::QueueOptions& bounds) {
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

void add_logs(Families& to, const tail::Counters& tail, const Intake::Counts& intake) {
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

void add_limits(Families& to, const host::Limits& limits) {
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

void add_nics(Families& to, const nic::NicWatch::Counts& nics, std::uint64_t dropped) {
  to.gauge("nics", "network cards whose counters are read", nics.nics);
  to.gauge("nics_left_out", "network cards beyond the bound", nics.left_out);
  to.gauge("nics_backed_off", "of those that are read, cards that answer slowly", nics.backed_off);
  to.counter("nic_reads_total", "counters of network cards that were read", nics.reads);
  to.counter("nic_slow_reads_total", "reads that took more than a millisecond a counter",
             nics.slow_reads);
  to.counter("nic_read_seconds_total", "time of those reads",
             std::chrono::duration<double>(nics.reading).count());
  to.counter("nic_seconds_total", "seconds of network cards that were told of", nics.seconds);
  to.counter("nic_rises_total", "rises of their counters of errors that were told of", nics.rises);
  to.counter("nic_dropped_total", "seconds and rises that no job got, or that were left out",
             nics.dropped + dropped);
  to.counter("nic_lost_total", "network cards that went away", nics.lost);
  to.counter("nic_wraps_total", "counters that began again at 32 bits", nics.wraps);
  to.counter("nic_resets_total", "counters that were set back", nics.resets);
}

}  // namespace

std::string render(const AgentFigures& figures) {
  Families to("l4_agent_");
  add_link(to, figures.session, figures.raw_lines.shed);
  add_queue(to, figures.session.queue(), figures.queue_bounds);
  add_logs(to, figures.tail, figures.intake);
  add_limits(to, figures.limits);
  to.counter("lines_total", "lines of logs that the aggregator has", figures.lines_committed);
  to.counter("kernel_lines_total", "messages of the kernel that tell of a fault",
             figures.kernel_lines);
  to.counter("questions_total", "questions for raw lines", figures.raw_lines.questions);
  to.counter("questions_refused_total", "of those, questions that were not answered",
             figures.raw_lines.refused);
  to.counter("answered_lines_total", "raw lines that were given", figures.raw_lines.lines);
  to.counter("redacted_lines_total", "of those, lines of which something was blotted out",
             figures.raw_lines.redacted);
  to.counter("questions_read_bytes_total", "bytes of logs that were read for questions",
             figures.raw_lines.bytes_read);
  to.gauge("jobs", "jobs whose logs are followed", figures.jobs.size());
  to.counter("jobs_refused_total", "jobs beyond the bound", figures.jobs.refused());
  add_nics(to, figures.nics, figures.nic_news_dropped);
  to.gauge("reading", "0 while no log is read: no room, no processor time, or no position yet",
           figures.reading);
  to.process();
  return to.text();
}

}  // namespace l4::daemon
