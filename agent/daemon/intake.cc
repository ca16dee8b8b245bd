#include "agent/daemon/intake.h"

#include <algorithm>
#include <utility>

namespace l4::daemon {
namespace {

constexpr std::size_t kWarningsMax = 64;
constexpr std::size_t kHeldOverhead = 64;

pipeline::Part part_of(const tail::Place& place, std::optional<std::uint64_t> lines) {
  return {place.path, place.file, place.offset, place.known, lines};
}

void feed(pipeline::JobPipeline& pipeline, pipeline::LogNumber log, const wire::FileId& file,
          std::uint64_t known, std::string_view bytes) {
  pipeline.known(log, file, known);
  pipeline.feed(log, bytes);
}

}  // namespace

void Intake::log_begins(const tail::LogBegin& begin) {
  Log& log = logs_[begin.log];
  log.path = begin.path;
  log.root = begin.root;
  log.since = now_.steady;
  ++undecided_;
}

void Intake::part(const tail::Place& place, std::uint64_t lines) {
  Log& log = logs_.at(place.log);
  if (place.file.inode != 0) log.file = host::FileKey{place.file.device, place.file.inode};
  if (others_.found) others_.found(place, log.root);
  std::optional<std::uint64_t> known;
  if (lines > 0 || place.offset == 0) known = lines;
  give(log, part_of(place, known));
}

void Intake::bytes(const tail::Place& place, std::string_view bytes) {
  Log& log = logs_.at(place.log);
  log.at_end = place.offset + bytes.size() >= place.known;
  if (std::exchange(log.quiet_since, {})) --quiet_logs_;
  if (!log.number) {
    hold(log, Text{std::string(bytes), place.file, place.known}, bytes.size());
    return;
  }
  pipeline::JobPipeline& pipeline = jobs_.fed(log.job, now_.steady);
  feed(pipeline, *log.number, place.file, place.known, bytes);
  if (pipeline.full()) pipeline.flush(now_.steady);
}

void Intake::missing(const tail::Place& place, std::uint64_t to, tail::Missing why) {
  const std::uint64_t bytes = to - place.offset;
  (tail::is_loss(why) ? counts_.lost_bytes : counts_.skipped_bytes) += bytes;
  const bool lost = tail::is_loss(why);
  if (!lost) warning({"skipped", place.path, std::string(tail::reason_of(why)), bytes});
  const std::string_view reason = lost ? tail::reason_of(why) : std::string_view();
  give(logs_.at(place.log), Missed{part_of(place, {}), to, reason});
}

void Intake::quiet(tail::LogId id) {
  Log& log = logs_.at(id);
  if (!log.at_end) return;
  if (!blocked_) return give(log, Quiet{});
  if (!log.quiet_since) ++quiet_logs_;
  log.quiet_since = now_.steady;
}

void Intake::log_ends(tail::LogId id) {
  Log& log = logs_.at(id);
  if (!log.number) decide(log, owners_.of(log.path, log.root, log.file));
  pipeline_of(log).end(*log.number);
  if (log.quiet_since) --quiet_logs_;
  logs_.erase(id);
}

void Intake::forgotten(const wire::FileId& file) {
  if (others_.forgotten) others_.forgotten(file);
}

void Intake::warning(const wire::Warning& warning) {
  ++counts_.warnings;
  if (others_.warned) others_.warned(warning);
  // What is lost is told by the batch that covers it: once, however often it is read again.
  if (warning.kind == "lost") return;
  if (warnings_.size() < kWarningsMax) warnings_.push_back(warning);
}

void Intake::hold(Log& log, Held what, std::size_t bytes) {
  log.held.push_back(std::move(what));
  held_bytes_ += bytes + kHeldOverhead;
}

void Intake::give(Log& log, Held what) {
  if (!log.number) return hold(log, std::move(what), 0);
  pipeline::JobPipeline& pipeline = pipeline_of(log);
  if (const auto* part = std::get_if<pipeline::Part>(&what)) {
    pipeline.part(*log.number, *part);
  } else if (const auto* text = std::get_if<Text>(&what)) {
    feed(pipeline, *log.number, text->file, text->known, text->bytes);
  } else if (const auto* missed = std::get_if<Missed>(&what)) {
    pipeline.missing(*log.number, missed->part, missed->to, missed->lost);
  } else {
    pipeline.quiet(*log.number);
  }
}

void Intake::decide(Log& log, const Owner& owner) {
  pipeline::JobPipeline& pipeline = jobs_.of(owner.job, now_.steady);
  log.job = pipeline.job();
  log.by_process = owner.by_process;
  log.named = owner.named;
  log.number = pipeline.open(owner.facts, now_.wall);
  pipeline.arrives(now_.wall);
  --undecided_;
  for (Held& what : std::exchange(log.held, {})) {
    const auto* text = std::get_if<Text>(&what);
    held_bytes_ -= kHeldOverhead + (text != nullptr ? text->bytes.size() : 0);
    give(log, std::move(what));
    if (pipeline.full()) pipeline.flush(now_.steady);
  }
}

/// What nobody names belongs to the job of what stands nearest to it: a launcher's log is there
/// before those of its ranks.
void Intake::decide_if_possible(Log& log) {
  const Millis waited = now_.steady - log.since;
  const bool over = !watched_ || waited >= options_.decide_after;
  if (!over && !owners_.knows(log.file)) return;
  Owner owner = owners_.of(log.path, log.root, log.file);
  if (!owner.named) {
    const std::string job = job_beside(log);
    const bool launcher = owner.facts.kind == wire::SourceKind::launcher;
    if (job.empty() && launcher && waited < options_.launcher_after) return;
    if (!job.empty()) owner.job = job;
  }
  decide(log, owner);
}

std::string Intake::job_beside(const Log& log) const {
  std::string job;
  std::size_t most = 0;
  for (const auto& [id, other] : logs_) {
    if (!other.number || !other.named || other.root != log.root) continue;
    const auto differs = std::ranges::mismatch(log.path, other.path).in1;
    const auto common = static_cast<std::size_t>(differs - log.path.begin());
    if (common < most) continue;
    most = common;
    job = other.job;
  }
  return job;
}

std::optional<Millis> Intake::decide() {
  if (jobs_.size() > 0)
    for (wire::Warning& warning : std::exchange(warnings_, {}))
      jobs_.first().warn(std::move(warning));
  if (undecided_ == 0 && quiet_logs_ == 0) return std::nullopt;
  for (auto& [id, log] : logs_) {
    if (!blocked_ && log.quiet_since && now_.steady - *log.quiet_since >= options_.quiet_again) {
      log.quiet_since.reset();
      --quiet_logs_;
      give(log, Quiet{});
    }
    if (log.number) continue;
    decide_if_possible(log);
  }
  if (undecided_ == 0 && quiet_logs_ == 0) return std::nullopt;
  return Millis{100};
}

void Intake::look_again() {
  for (auto& [id, log] : logs_) {
    if (!log.number || log.by_process || !owners_.knows(log.file)) continue;
    const Owner owner = owners_.of(log.path, log.root, log.file);
    if (!owner.by_process) continue;
    log.by_process = true;
    pipeline_of(log).describe(*log.number, owner.facts);
  }
}

void Intake::restart(bool forget) {
  jobs_.restart();
  for (auto& [id, log] : logs_) {
    log.held.clear();
    log.quiet_since.reset();
    if (forget && log.number) pipeline_of(log).drop(*log.number);
  }
  held_bytes_ = quiet_logs_ = 0;
  if (!forget) return;
  logs_.clear();
  undecided_ = 0;
}

std::string Intake::job_of(const host::FileKey& file) const {
  for (const auto& [id, log] : logs_)
    if (log.number && log.file == file) return log.job;
  return {};
}

std::string Intake::job_of(const host::ProcessWatch::Process& process) const {
  const std::string& named = process.fact.job;
  if (!named.empty() && jobs_.find(named) != nullptr) return named;
  for (const host::FileKey& file : process.logs)
    if (std::string job = job_of(file); jobs_.find(job) != nullptr) return job;
  return named.empty() ? process.job_before : named;
}

}  // namespace l4::daemon
