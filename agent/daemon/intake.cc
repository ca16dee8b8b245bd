#include "agent/daemon/intake.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace l4::daemon {
namespace {

constexpr std::size_t kWarningsMax = 64;
constexpr std::size_t kHeldOverhead = 64;
constexpr int kDoublingsMax = 6;

pipeline::FilePosition part_of(const tail::TextPosition& place,
                               std::optional<std::uint64_t> lines) {
  return {place.path, place.file, place.offset, place.known, lines};
}

/// Length of the common beginning of two paths.
std::size_t common(const std::string& one, const std::string& other) {
  const auto differs = std::ranges::mismatch(one, other).in1;
  return static_cast<std::size_t>(differs - one.begin());
}

}  // namespace

void Intake::log_begins(const tail::LogBegin& begin) {
  RoutedLog& log = logs_[begin.log];
  log.path = begin.path;
  log.root = begin.root;
  log.since = now_.steady;
  ++undecided_;
}

Intake::RoutedLog& Intake::log_of(tail::LogId id) {
  const auto found = logs_.find(id);
  L4_CHECK(found != logs_.end(), "log {} was not announced by log_begins", id);
  return found->second;
}

pipeline::JobPipeline& Intake::pipeline_of(const RoutedLog& log) {
  pipeline::JobPipeline* const pipeline = jobs_.find(log.job);
  L4_CHECK(log.number && pipeline != nullptr, "log {} of job {} is not decided", log.path, log.job);
  return *pipeline;
}

void Intake::part(const tail::TextPosition& place, std::uint64_t lines) {
  RoutedLog& log = log_of(place.log);
  if (place.file.inode != 0) log.file = host::FileKey{place.file.device, place.file.inode};
  if (listeners_.found) listeners_.found(place, log.root);
  if (place.user) log.user = place.user;
  tell_user(log);
  std::optional<std::uint64_t> known;
  if (lines > 0 || place.offset == 0) known = lines;
  give(log, part_of(place, known));
}

void Intake::bytes(const tail::TextPosition& place, std::string_view bytes) {
  RoutedLog& log = log_of(place.log);
  log.at_end = place.offset + bytes.size() >= place.known;
  if (std::exchange(log.quiet_since, {})) --quiet_logs_;
  if (log.doubt_at && now_.steady >= *log.doubt_at) doubt(log);
  if (holds(log)) {
    hold(log, Text{std::string(bytes), place.file, place.known}, bytes.size());
    return;
  }
  pipeline::JobPipeline& pipeline = jobs_.fed(log.job, now_.steady);
  feed(log, place.file, place.known, bytes);
  if (pipeline.full()) pipeline.flush(now_.steady);
}

void Intake::feed(RoutedLog& log, const wire::FileId& file, std::uint64_t known,
                  std::string_view bytes) {
  pipeline::JobPipeline& pipeline = pipeline_of(log);
  pipeline.set_known(*log.number, file, known);
  pipeline.feed(*log.number, bytes);
  if (!log.here) return;
  log.here->file = file;
  log.here->known = known;
  log.here->offset += bytes.size();
}

void Intake::missing(const tail::TextPosition& place, std::uint64_t to, tail::Missing why) {
  const std::uint64_t bytes = to - place.offset;
  (tail::is_loss(why) ? counts_.lost_bytes : counts_.skipped_bytes) += bytes;
  const bool lost = tail::is_loss(why);
  if (!lost) warning({"skipped", place.path, std::string(tail::reason_of(why)), bytes});
  const std::string_view reason = lost ? tail::reason_of(why) : std::string_view();
  give(log_of(place.log), Missed{part_of(place, {}), to, reason});
}

void Intake::quiet(tail::LogId id) {
  RoutedLog& log = log_of(id);
  if (!log.at_end) return;
  if (!blocked_) return give(log, Quiet{});
  if (!log.quiet_since) ++quiet_logs_;
  log.quiet_since = now_.steady;
}

void Intake::log_ends(tail::LogId id) {
  RoutedLog& log = log_of(id);
  if (!log.number) decide(log, owners_.of(log.path, log.root, log.file));
  if (log.doubted) believe(log);
  pipeline_of(log).end(*log.number);
  if (log.quiet_since) --quiet_logs_;
  logs_.erase(id);
}

void Intake::forgotten(const wire::FileId& file) {
  if (listeners_.forgotten) listeners_.forgotten(file);
}

void Intake::warning(const wire::Warning& warning) {
  ++counts_.warnings;
  if (listeners_.warned) listeners_.warned(warning);
  // The batch that covers lost bytes reports them: once, however often they are read again.
  if (warning.kind == "lost") return;
  if (warnings_.size() < kWarningsMax) warnings_.push_back(warning);
}

void Intake::hold(RoutedLog& log, Held what, std::size_t bytes) {
  log.held.push_back(std::move(what));
  held_bytes_ += bytes + kHeldOverhead;
}

void Intake::give(RoutedLog& log, Held what) {
  if (holds(log)) return hold(log, std::move(what), 0);
  pipeline::JobPipeline& pipeline = pipeline_of(log);
  if (const auto* part = std::get_if<pipeline::FilePosition>(&what)) {
    pipeline.begin_part(*log.number, *part);
    log.here = *part;
  } else if (const auto* text = std::get_if<Text>(&what)) {
    feed(log, text->file, text->known, text->bytes);
  } else if (const auto* missed = std::get_if<Missed>(&what)) {
    pipeline.missing(*log.number, missed->part, missed->to, missed->lost);
    if (log.here && log.here->file.key == missed->part.file.key) log.here->offset = missed->to;
  } else {
    pipeline.quiet(*log.number);
  }
}

void Intake::decide(RoutedLog& log, const Owner& owner) {
  pipeline::JobPipeline& pipeline = jobs_.of(owner.job, now_.steady);
  log.job = pipeline.job();
  log.by_process = owner.by_process;
  log.named = owner.named;
  log.writers_job = owner.writers_job;
  if (log.by_process && !owners_.living_job(log.file))
    log.doubt_at = now_.steady + options_.last_words;
  log.number = pipeline.open(owner.facts, now_.wall);
  tell_user(log);
  pipeline.set_arrival({now_.steady, now_.wall});
  L4_CHECK(undecided_ > 0, "log {} is decided twice", log.path);
  --undecided_;
  release(log);
}

void Intake::release(RoutedLog& log) {
  pipeline::JobPipeline& pipeline = pipeline_of(log);
  for (Held& what : std::exchange(log.held, {})) {
    const auto* text = std::get_if<Text>(&what);
    const std::size_t bytes = kHeldOverhead + (text != nullptr ? text->bytes.size() : 0);
    L4_CHECK(bytes <= held_bytes_, "{} bytes are released of {} that are held", bytes, held_bytes_);
    held_bytes_ -= bytes;
    give(log, std::move(what));
    if (pipeline.full()) pipeline.flush(now_.steady);
  }
}

/// The log goes on although its ranks have left.
void Intake::doubt(RoutedLog& log) {
  if (std::exchange(log.doubted, true)) return;
  log.since = now_.steady;
  ++undecided_;
  if (listeners_.writer_unknown) listeners_.writer_unknown();
}

/// The search for the writer is over: the writer belongs to another job, to the same job, or is not
/// known.
void Intake::believe(RoutedLog& log) {
  log.doubted = false;
  --undecided_;
  if (owners_.living_job(log.file)) {
    log.doubt_at.reset();
    log.doubts = 0;
    hand_over(log, owners_.of(log.path, log.root, log.file));
  } else {
    const int doublings = std::min(log.doubts++, kDoublingsMax);
    log.doubt_at = now_.steady + options_.decide_after * (1 << doublings);
  }
  release(log);
}

/// If the processes of the log name another job, the next bytes go to that job.
void Intake::hand_over(RoutedLog& log, const Owner& owner) {
  if (owner.writers_job.empty() || owner.writers_job == log.writers_job) return;
  const bool first = log.writers_job.empty();
  log.writers_job = owner.writers_job;
  pipeline::JobPipeline& former = pipeline_of(log);
  if (first || owner.job == former.job()) return;
  pipeline::JobPipeline& next = jobs_.of(owner.job, now_.steady);
  if (&next == &former) return;
  if (log.here) log.here->lines = former.lines_of(*log.number, log.here->file.key);
  former.end(*log.number);
  former.flush(now_.steady);  // batches must cover the bytes of a file in order
  log.job = next.job();
  log.named = owner.named;
  log.number = next.open(owner.facts, now_.wall);
  tell_user(log);
  next.set_arrival({now_.steady, now_.wall});
  if (log.here) next.begin_part(*log.number, *log.here);
}

/// Returns the owner if it is decided but no process, path or setting names a job; the caller then
/// picks the job of the nearest log.
std::optional<Owner> Intake::decide_by_name(RoutedLog& log) {
  const bool over = !watched_ || now_.steady - log.since >= options_.decide_after;
  if (!over && !owners_.knows(log.file)) return std::nullopt;
  Owner owner = owners_.of(log.path, log.root, log.file);
  if (!owner.named) return owner;
  decide(log, owner);
  return std::nullopt;
}

/// A log without a named job belongs to the job of the nearest log. The log of a launcher exists
/// before those of its ranks, whose folders appear beside it; so it waits for them.
void Intake::decide_by_place(RoutedLog& log, Owner owner) {
  const Neighbour nearest = neighbour_of(log);
  const bool launcher = owner.facts.kind == wire::SourceKind::launcher;
  if (launcher && !nearest.beside && now_.steady - log.since < options_.launcher_after) return;
  if (!nearest.job.empty()) owner.job = nearest.job;
  decide(log, owner);
}

Intake::Neighbour Intake::neighbour_of(const RoutedLog& log) const {
  Neighbour found;
  std::size_t most = 0;
  bool several = false;
  for (const auto& [id, other] : logs_) {
    if (!other.number || !other.named || other.root != log.root) continue;
    const std::size_t alike = common(log.path, other.path);
    several |= !found.job.empty() && found.job != other.job;
    if (alike < most) continue;
    most = alike;
    found.job = other.job;
  }
  if (found.job.empty()) return found;
  const std::size_t folder = log.path.rfind('/', most - 1);  // the folder that holds both logs
  // A log that shares only the root with logs of several jobs belongs to none of them.
  if (several && folder <= log.root.size()) return {};
  found.beside = folder == log.path.rfind('/');
  return found;
}

/// The job of the file that a warning is about, or of the nearest log; null until that is decided.
pipeline::JobPipeline* Intake::job_of(const wire::Warning& warning) {
  const RoutedLog* nearest = nullptr;
  std::size_t most = 0;
  for (const auto& [id, log] : logs_) {
    const std::size_t alike = common(warning.file, log.path);
    if (nearest != nullptr && alike <= most) continue;
    most = alike;
    nearest = &log;
  }
  if (nearest == nullptr) return jobs_.size() > 0 ? &jobs_.first() : nullptr;
  if (nearest->path != warning.file) {
    const Owner owner = owners_.of(warning.file, nearest->root, std::nullopt);
    pipeline::JobPipeline* named = owner.named ? jobs_.find(owner.job) : nullptr;
    if (named != nullptr) return named;
  }
  return nearest->number ? &pipeline_of(*nearest) : nullptr;
}

void Intake::release_warnings() {
  std::erase_if(warnings_, [&](wire::Warning& warning) {
    pipeline::JobPipeline* pipeline = job_of(warning);
    if (pipeline != nullptr) pipeline->warn(std::move(warning));
    return pipeline != nullptr;
  });
}

std::optional<Millis> Intake::decide() {
  if (undecided_ == 0 && quiet_logs_ == 0 && warnings_.empty()) return std::nullopt;
  std::vector<std::pair<RoutedLog*, Owner>> unnamed;  // decided after the logs with a named job
  for (auto& [id, log] : logs_) {
    if (!blocked_ && log.quiet_since && now_.steady - *log.quiet_since >= options_.quiet_again) {
      log.quiet_since.reset();
      --quiet_logs_;
      give(log, Quiet{});
    }
    if (!log.number) {
      if (auto owner = decide_by_name(log)) unnamed.emplace_back(&log, std::move(*owner));
    } else if (log.doubted &&
               (now_.steady - log.since >= options_.decide_after || owners_.living_job(log.file))) {
      believe(log);
    }
  }
  for (auto& [log, owner] : unnamed) decide_by_place(*log, std::move(owner));
  release_warnings();
  if (undecided_ == 0 && quiet_logs_ == 0) return std::nullopt;
  return Millis{100};
}

void Intake::update_owners() {
  for (auto& [id, log] : logs_) {
    if (!log.number || log.doubted) continue;
    const auto job = owners_.living_job(log.file);
    if (job) {
      log.doubt_at.reset();
      log.doubts = 0;
    } else if (log.by_process && !log.doubt_at) {
      log.doubt_at = now_.steady + options_.last_words;
    }
    if (log.by_process) {
      if (job && !job->empty() && *job != log.writers_job)
        hand_over(log, owners_.of(log.path, log.root, log.file));
      continue;
    }
    if (!job && !owners_.knows(log.file)) continue;
    const Owner owner = owners_.of(log.path, log.root, log.file);
    if (!owner.by_process) continue;
    log.by_process = true;
    log.writers_job = owner.writers_job;
    pipeline_of(log).describe(*log.number, owner.facts);
  }
}

/// Passes on the name of the log's user, if it is known.
void Intake::tell_user(RoutedLog& log) {
  if (!log.number || !log.user || !listeners_.user_name) return;
  if (const auto name = listeners_.user_name(*log.user))
    pipeline_of(log).set_user(*log.number, *name);
}

void Intake::update_users() {
  for (auto& [id, log] : logs_) tell_user(log);
}

void Intake::restart(bool forget) {
  jobs_.restart();
  for (auto& [id, log] : logs_) {
    log.held.clear();
    log.quiet_since.reset();
    log.here.reset();
    if (std::exchange(log.doubted, false)) --undecided_;
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
