#include "agent/daemon/intake.h"

#include <algorithm>
#include <utility>

namespace l4::daemon {
namespace {

constexpr std::size_t kWarningsMax = 64;
constexpr std::size_t kHeldOverhead = 64;
constexpr int kDoublingsMax = 6;

pipeline::FilePosition part_of(const tail::TextPosition& place,
                               std::optional<std::uint64_t> lines) {
  return {place.path, place.file, place.offset, place.known, lines};
}

/// Characters that both paths begin with.
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

void Intake::part(const tail::TextPosition& place, std::uint64_t lines) {
  RoutedLog& log = logs_.at(place.log);
  if (place.file.inode != 0) log.file = host::FileKey{place.file.device, place.file.inode};
  if (others_.found) others_.found(place, log.root);
  std::optional<std::uint64_t> known;
  if (lines > 0 || place.offset == 0) known = lines;
  give(log, part_of(place, known));
}

void Intake::bytes(const tail::TextPosition& place, std::string_view bytes) {
  RoutedLog& log = logs_.at(place.log);
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
  give(logs_.at(place.log), Missed{part_of(place, {}), to, reason});
}

void Intake::quiet(tail::LogId id) {
  RoutedLog& log = logs_.at(id);
  if (!log.at_end) return;
  if (!blocked_) return give(log, Quiet{});
  if (!log.quiet_since) ++quiet_logs_;
  log.quiet_since = now_.steady;
}

void Intake::log_ends(tail::LogId id) {
  RoutedLog& log = logs_.at(id);
  if (!log.number) decide(log, owners_.of(log.path, log.root, log.file));
  if (log.doubted) believe(log);
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
  pipeline.set_arrival(now_.wall);
  --undecided_;
  release(log);
}

void Intake::release(RoutedLog& log) {
  pipeline::JobPipeline& pipeline = pipeline_of(log);
  for (Held& what : std::exchange(log.held, {})) {
    const auto* text = std::get_if<Text>(&what);
    held_bytes_ -= kHeldOverhead + (text != nullptr ? text->bytes.size() : 0);
    give(log, std::move(what));
    if (pipeline.full()) pipeline.flush(now_.steady);
  }
}

/// Its ranks have left, and it goes on.
void Intake::doubt(RoutedLog& log) {
  if (std::exchange(log.doubted, true)) return;
  log.since = now_.steady;
  ++undecided_;
  if (others_.look_for_writers) others_.look_for_writers();
}

/// Who writes it was looked for: another job, the same one, or nobody who is known.
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

/// What comes from now on is of the job that its processes name, if that is another one.
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
  former.flush(now_.steady);  // a file's bytes are covered in their order
  log.job = next.job();
  log.named = owner.named;
  log.number = next.open(owner.facts, now_.wall);
  next.set_arrival(now_.wall);
  if (log.here) next.begin_part(*log.number, *log.here);
}

/// Whose it is, where that is known and nobody names its job.
std::optional<Owner> Intake::decide_by_name(RoutedLog& log) {
  const bool over = !watched_ || now_.steady - log.since >= options_.decide_after;
  if (!over && !owners_.knows(log.file)) return std::nullopt;
  Owner owner = owners_.of(log.path, log.root, log.file);
  if (!owner.named) return owner;
  decide(log, owner);
  return std::nullopt;
}

/// What nobody names belongs to the job of what stands nearest to it. A launcher's log is there
/// before those of its ranks, whose folders come beside it.
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
  const std::size_t folder = log.path.rfind('/', most - 1);  // both are in it
  // What has but the root of several jobs in common with them is none's.
  if (several && folder <= log.root.size()) return {};
  found.beside = folder == log.path.rfind('/');
  return found;
}

/// The job of the file that a warning is about, or of what stands nearest to it; null as long as
/// that is not decided.
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

void Intake::tell_warnings() {
  std::erase_if(warnings_, [&](wire::Warning& warning) {
    pipeline::JobPipeline* pipeline = job_of(warning);
    if (pipeline != nullptr) pipeline->warn(std::move(warning));
    return pipeline != nullptr;
  });
}

std::optional<Millis> Intake::decide() {
  if (undecided_ == 0 && quiet_logs_ == 0 && warnings_.empty()) return std::nullopt;
  std::vector<std::pair<RoutedLog*, Owner>> unnamed;  // until those are decided that somebody names
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
  tell_warnings();
  if (undecided_ == 0 && quiet_logs_ == 0) return std::nullopt;
  return Millis{100};
}

void Intake::look_again() {
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
