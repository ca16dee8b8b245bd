#include "agent/daemon/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/daemon/agent_metrics.h"
#include "common/config/config_values.h"

namespace l4::daemon {
namespace {

constexpr Millis kAloneAfter{5'000}, kScanEvery{1'000}, kSaveEvery{5'000};
constexpr Millis kFlushLeast{50};     // between two flushes
constexpr Millis kCrowdedFor{5'000};  // before the agent stops reading to be replaced, and at most
constexpr std::size_t kQuestionsMax = 16;

ship::SessionOptions session_options(const Settings& settings, const Agent::World& world) {
  ship::SessionOptions options;
  options.agent = world.name;
  options.boot_id = world.boot_id;
  options.software = world.software;
  options.incarnation = world.incarnation;
  options.queue = settings.queue;
  options.seed = world.seed;
  return options;
}

/// Why questions are refused for now; empty: they are answered.
std::string_view busy(const ship::Session& session, const host::Limits& limits) {
  if (session.pressure() < wire::Shedding::examples) return {};
  return limits.over_memory() ? "the agent's memory is at its bound ([limits] resident_mib)"
                              : "the agent is behind: batches wait to be sent";
}

}  // namespace

Result<segment::RulePackSet> Agent::check(const Settings& settings) {
  auto packs = segment::RulePackSet::load(settings.frameworks);
  if (!packs)
    return std::unexpected(named_error(settings.named, settings.frameworks, packs.error()));
  if (auto sources = tail::Sources::compile(settings.sources, settings.excludes); !sources)
    return std::unexpected(sources.error());
  return packs;
}

Result<std::unique_ptr<Agent>> Agent::make(Settings settings, World world, Moment now) {
  auto packs = check(settings);  // checked before anything is connected
  if (!packs) return std::unexpected(packs.error());
  return std::unique_ptr<Agent>(
      new Agent(std::move(settings), std::move(world), std::move(*packs), now));
}

Agent::Agent(Settings settings, World world, segment::RulePackSet packs, Moment now)
    : settings_(std::move(settings)),
      world_(std::move(world)),
      packs_(std::move(packs)),
      now_(now),
      began_(now.steady),
      processes_(settings_, world_.proc, *world_.log),
      owners_({settings_.job, settings_.node, world_.name, settings_.rank, settings_.local_rank},
              processes_.watch()),
      users_(world_.user_name),
      jobs_(packs_, settings_.pipeline, settings_.jobs,
            [this](wire::Batch&& batch) { ship(std::move(batch)); }),
      intake_({}, owners_, jobs_, intake_listeners(), settings_.processes),
      logs_(settings_, world_.seed, std::move(world_.tailer), *world_.log),
      nics_(settings_, settings_.node.empty() ? world_.name : settings_.node, world_.stopwatch),
      load_(world_.proc, settings_.limits, *world_.log),
      session_(session_options(settings_, world_), *world_.port, *this),
      raw_lines_(settings_, jobs_, *world_.log),
      hints_(*world_.log, now.steady),
      link_hints_(settings_.aggregator, *world_.log, now.steady) {
  if (settings_.kernel)
    kernel_.emplace(
        KernelFeed::Options{kKernelLogPath, world_.boot_id,
                            settings_.node.empty() ? world_.name : settings_.node},
        jobs_, [this](std::uint64_t key) { return logs_.committed_offset(key); },
        [this](const host::ProcessWatch::Process& process) { return intake_.job_of(process); });
  processes_.resume(now);
}

Agent::~Agent() = default;

Intake::Listeners Agent::intake_listeners() {
  Intake::Listeners listeners;
  listeners.found = [this](const tail::TextPosition& position, const std::string& root) {
    if (position.file.inode == 0) return;
    const host::FileKey key{position.file.device, position.file.inode};
    processes_.add_log({position.path, owners_.node_of_path(position.path, root), key},
                       now_.steady);
  };
  listeners.forgotten = [this](const wire::FileId& file) {
    session_.release(file.key);
    logs_.forget(file.key);
    processes_.remove_log({file.device, file.inode});
  };
  listeners.warned = [this](const wire::Warning& warning) {
    // Which right is missing depends on who reads.
    const std::string step =
        warning.reason == std::strerror(EACCES)
            ? fmt::format(
                  "; the agent runs as user {}: give it CAP_DAC_READ_SEARCH, as its unit "
                  "does, or a group that may read the file",
                  ::geteuid())
            : std::string();
    world_.log->warn(fmt::format("{}: {}: {}{}", warning.kind, warning.file, warning.reason, step),
                     now_.steady);
  };
  listeners.user_name = [this](std::uint32_t id) { return users_.name_of(id); };
  listeners.writer_unknown = [this] { processes_.scan_soon(now_.steady); };
  return listeners;
}

Millis Agent::step(Moment now) {
  now_ = now;
  intake_.set_time({now.steady, now.host.wall});
  jobs_.arrives(now.instant());
  Millis wait = session_.step(now.instant());
  answer_questions();
  if (logs_.tailer() == nullptr && now.steady - began_ >= kAloneAfter && !stopping_)
    logs_.begin_alone(now.steady);
  nics_.poll(now);
  if (load_.poll(now, logs_, session_)) flush(false);
  if (processes_.poll(now)) intake_.update_owners();
  decide_in_ = intake_.decide();
  if (users_.poll()) intake_.update_users();
  if (logs_.tailer() != nullptr)
    processes_.publish(jobs_, intake_, decide_in_.has_value(), now.steady);
  if (session_.state() == ship::Session::State::open && !stopping_)
    nics_.publish(jobs_, processes_.living_jobs(), session_.pressure() < wire::Shedding::examples,
                  now.steady);
  if (reloaded_) change_sources();
  watch_crowd();
  if (may_read())
    read();
  else
    scan();
  if (may_hear_kernel()) {
    kernel_->poll(now.host, processes_.watch());
    world_.log->warn(kernel_->flush_notices(), now.steady);
  }
  flush_due();
  if (std::exchange(offered_, false)) wait = session_.step(now.instant());
  if (all_is_acked()) processes_.ack_ends();
  if (hints_.poll(settings_.sources, settings_.excludes, now.steady))
    session_.set_hints(hints_.hints());
  const auto clock = session_.clock();
  link_hints_.poll(session_.state() == ship::Session::State::open,
                   clock ? std::optional(clock->offset) : std::nullopt, now.steady);
  if (now.steady >= save_at_) save();
  return next_step(wait);
}

bool Agent::may_read() const {
  return logs_.tailer() != nullptr && !stopping_ && !reloaded_ && !clearing_ &&
         session_.has_room() && intake_.has_room() && now_.steady >= load_.paused_until();
}

bool Agent::may_hear_kernel() const {
  return kernel_ && logs_.tailer() != nullptr && !stopping_ && session_.has_room();
}

void Agent::read() {
  more_ = logs_.tailer()->turn(intake_, {now_.steady, now_.host.wall});
  if (!more_) intake_.turned();
}

/// While nothing can be read, the tailer must still notice which files appear and disappear: a file
/// may be gone when there is room again.
void Agent::scan() {
  intake_.was_blocked();
  if (logs_.tailer() == nullptr || stopping_ || now_.steady < scan_at_) return;
  scan_at_ = now_.steady + kScanEvery;
  logs_.tailer()->scan(intake_, {now_.steady, now_.host.wall});
}

void Agent::flush(bool all) {
  flush_at_ = now_.steady + settings_.flush;
  early_at_.reset();
  if (!session_.has_room() || !jobs_.dirty()) return;
  jobs_.flush(now_.steady, all);
  early_at_ = jobs_.due();
  if (early_at_) early_at_ = std::max(*early_at_, now_.steady + kFlushLeast);
}

/// What has waited for more lines is not kept waiting for the next flush, too. But where more lines
/// have come since, an early flush would only make batches smaller: jobs are asked again.
void Agent::flush_due() {
  if (now_.steady >= flush_at_) {
    flush(stopping_);
  } else if (early_at_ && now_.steady >= *early_at_) {
    early_at_ = jobs_.due();
    if (early_at_ && now_.steady >= *early_at_) flush(stopping_);
  }
}

void Agent::ship(wire::Batch&& batch) {
  session_.offer(std::move(batch));
  offered_ = true;
}

Millis Agent::next_step(Millis session) const {
  const auto until = [&](Millis at) { return std::max(Millis{0}, at - now_.steady); };
  Millis wait = session;
  if (jobs_.dirty() && session_.has_room())
    wait = std::min(wait, until(std::min(flush_at_, early_at_.value_or(flush_at_))));
  if (processes_.watch() != nullptr) wait = std::min(wait, until(processes_.due_at()));
  if (decide_in_) wait = std::min(wait, *decide_in_);
  if (nics_.is_on()) wait = std::min(wait, until(nics_.due_at()));
  if (users_.is_looking()) wait = std::min(wait, Millis{500});
  if (reloaded_ || stopping_ || clearing_ || lines_wait_) wait = std::min(wait, Millis{50});
  if (may_read()) {
    if (more_) return Millis{0};
    const tail::Wait tail = logs_.tailer()->wait({now_.steady, now_.host.wall});
    if (tail.at_most) wait = std::min(wait, *tail.at_most);
  } else {
    if (now_.steady < load_.paused_until()) wait = std::min(wait, until(load_.paused_until()));
    if (logs_.tailer() != nullptr && !stopping_) wait = std::min(wait, until(scan_at_));
  }
  return wait;
}

std::vector<int> Agent::descriptors() const {
  std::vector<int> all{world_.port->wait_fd(), processes_.descriptor(), raw_lines_.descriptor()};
  if (may_hear_kernel()) all.push_back(kernel_->descriptor());
  if (may_read()) all.push_back(logs_.tailer()->wait({now_.steady, now_.host.wall}).fd);
  return all;
}

void Agent::save() {
  save_at_ = now_.steady + kSaveEvery;
  processes_.save(intake_, now_.steady);
  logs_.save(now_.steady);
}

void Agent::stop(Moment now) {
  now_ = now;
  stopping_ = true;
  flush(true);
  session_.step(now.instant());
}

bool Agent::done() const {
  return session_.queue().size() == 0 || session_.state() != ship::Session::State::open;
}

void Agent::close(Moment now) {
  now_ = now;
  save();
  session_.stop("the agent stops");
}

/// The aggregator has all that this agent made of the logs.
bool Agent::all_is_acked() const {
  return session_.queue().size() == 0 && !processes_.has_facts() && !jobs_.dirty();
}

/// The next agent begins behind the committed bytes, so this one must hold no further ones.
bool Agent::may_be_replaced() const {
  return session_.state() == ship::Session::State::open && all_is_acked() &&
         logs_.tailer() != nullptr && !more_ && !stopping_ && !reloaded_ && questions_.empty() &&
         !raw_lines_.works();
}

bool Agent::wants_room() const {
  return now_.steady - began_ >= settings_.jobs.idle_after / 6 &&
         (jobs_.crowded(now_.steady, processes_.living_jobs()) || load_.is_grown(now_.steady));
}

bool Agent::is_crowded() const {
  return crowded_since_ && may_be_replaced();
}

/// Where logs grow all the time, no moment comes by itself at which the aggregator has everything.
/// After a while nothing is read until it has, in turns: a slow aggregator must not stop the agent.
void Agent::watch_crowd() {
  if (session_.state() != ship::Session::State::open || !wants_room()) {
    crowded_since_.reset();
  } else if (!crowded_since_) {
    crowded_since_ = now_.steady;
  }
  clearing_ = crowded_since_ && (now_.steady - *crowded_since_) / kCrowdedFor % 2 == 1;
}

std::optional<tail::Tailer> Agent::make_room(Moment now) {
  now_ = now;
  if (load_.is_grown(now.steady))
    world_.log->info("memory stays at its bound; beginning anew, without what was learned",
                     now.steady);
  else
    world_.log->info(fmt::format("{} of {} jobs have said nothing for {} s; beginning anew without "
                                 "them",
                                 jobs_.idle(now.steady, processes_.living_jobs()), jobs_.size(),
                                 settings_.jobs.idle_after.count() / 1000),
                     now.steady);
  processes_.save(intake_, now.steady);
  logs_.save(now.steady, true);
  return logs_.release();
}

std::string Agent::status() const {
  static constexpr const char* kStates[] = {"waiting to connect",  "connecting", "greeting",
                                            "comparing positions", "connected",  "stopped"};
  const tail::Counters counters = logs_.counters();
  return fmt::format("{}; {} jobs, {} logs, {} files; {} batches wait",
                     kStates[static_cast<std::size_t>(session_.state())], jobs_.size(),
                     counters.logs, counters.files, session_.queue().size());
}

std::string Agent::metrics() const {
  const tail::Counters tail = logs_.counters();
  return render({session_, settings_.queue, tail, intake_.counts(), load_.limits(),
                 raw_lines_.counts(), jobs_, logs_.lines_committed(),
                 kernel_ ? kernel_->lines() : 0, nics_.counts(), nics_.dropped(), may_read()});
}

void Agent::read_from(const std::vector<wire::Position>& committed) {
  intake_.restart(!logs_.goes_on(committed));
  logs_.resume(committed, now_.steady);
  if (kernel_) kernel_->restart();
  processes_.report_all();
  nics_.define_again();
}

bool Agent::knows(std::uint64_t file_key) const {
  return logs_.knows(file_key);
}

void Agent::committed(const std::vector<wire::Coverage>& coverage) {
  logs_.commit(coverage);
}

void Agent::question(const wire::Ask& question) {
  if (questions_.size() < kQuestionsMax) questions_.push_back(question);
}

void Agent::answer_questions() {
  for (const wire::Ask& question : std::exchange(questions_, {}))
    raw_lines_.ask(question, logs_.tailer(), busy(session_, load_.limits()), now_.steady);
  lines_wait_ = raw_lines_.send(session_);
}

bool Agent::notify(ship::NoticeKind kind, std::string_view text) {
  if (kind == ship::NoticeKind::recovery) {
    world_.log->recovered(text, now_.steady);
    return true;
  }
  const bool trouble = kind == ship::NoticeKind::trouble;
  return world_.log->write(trouble ? OwnLog::Weight::warning : OwnLog::Weight::info, text,
                           now_.steady);
}

void Agent::reload(Settings settings, Moment now) {
  now_ = now;
  for (const std::string& name : fixed_differences(settings_, settings))
    world_.log->warn(fmt::format("[{}] has changed: takes effect at the next start", name),
                     now.steady);
  settings_.flush = settings.flush;
  const bool sources = followed(settings) != followed(settings_);
  if (sources) reloaded_ = std::move(settings);
  world_.log->info("the configuration was read again", now.steady);
}

/// Once nothing is under way, the other sources are read from the committed positions on.
void Agent::change_sources() {
  if (jobs_.dirty() && session_.has_room()) jobs_.flush(now_.steady, true);
  if (session_.queue().size() > 0 || logs_.tailer() == nullptr) return;
  settings_.sources = std::move(reloaded_->sources);
  settings_.excludes = std::move(reloaded_->excludes);
  settings_.old_after = reloaded_->old_after;
  reloaded_.reset();
  intake_.restart(true);
  logs_.change_sources(now_.steady);
  hints_.restart(now_.steady);
  if (kernel_) kernel_->restart();
}

}  // namespace l4::daemon
