#include "agent/daemon/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/config_values.h"

namespace l4::daemon {
namespace {

constexpr Millis kAloneAfter{5'000};
constexpr auto kKernelLog = "/dev/kmsg";
constexpr Millis kLookEvery{1'000};
constexpr Millis kRememberEvery{5'000};

std::unique_ptr<host::ProcessWatch> make_watch(const Settings& settings, const host::Proc& proc) {
  if (!settings.processes) return nullptr;
  host::ProcessWatch::Options options;
  options.hints.config_job = settings.job;
  options.hints.config_node = settings.node;
  options.hints.config_rank = settings.rank;
  options.hints.config_local_rank = settings.local_rank;
  options.hints.config_world_size = settings.world_size;
  options.self = host::Pid{static_cast<std::int32_t>(::getpid())};
  return std::make_unique<host::ProcessWatch>(proc, std::move(options));
}

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
  auto packs = check(settings);  // before anything is connected
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
      watch_(make_watch(settings_, world_.proc)),
      owners_({settings_.job, settings_.node, world_.name, settings_.rank, settings_.local_rank},
              watch_.get()),
      jobs_(packs_, settings_.pipeline, settings_.jobs,
            [this](wire::Batch&& batch) { ship(std::move(batch)); }),
      intake_(
          {}, owners_, jobs_,
          {[this](const tail::TextPosition& place, const std::string& root) { found(place, root); },
           [this](const wire::FileId& file) {
             session_.release(file.key);
             counted_.erase(file.key);
             if (watch_) watch_->remove_log({file.device, file.inode});
           },
           [this](const wire::Warning& warning) {
             world_.log->warn(fmt::format("{}: {}: {}", warning.kind, warning.file, warning.reason),
                              now_.steady);
           },
           [this] {
             if (watch_) watch_->ask_scan();
             watch_closely();
           }},
          settings_.processes),
      limits_(world_.proc, settings_.limits),
      session_(session_options(settings_, world_), *world_.port, *this),
      positions_file_((settings_.state / "positions").string()),
      watch_file_((settings_.state / "processes").string()),
      raw_lines_(settings_, jobs_, *world_.log) {
  if (settings_.kernel)
    kernel_.emplace(
        KernelFeed::Options{kKernelLog, world_.boot_id,
                            settings_.node.empty() ? world_.name : settings_.node},
        jobs_,
        [this](std::uint64_t key) {
          const auto found = counted_.find(key);
          return found == counted_.end() ? 0 : found->second.offset;
        },
        [this](const host::ProcessWatch::Process& process) { return intake_.job_of(process); });
  if (watch_) resume_processes();
}

Agent::~Agent() = default;

Millis Agent::step(Moment now) {
  now_ = now;
  intake_.set_time({now.steady, now.host.wall});
  jobs_.arrives(now.host.wall);
  Millis wait = session_.step(now.instant());
  answer_questions();
  if (!tailer_ && now.steady - began_ >= kAloneAfter && !stopping_) begin_alone();
  if (now.steady >= limits_at_) look_at_limits();
  watch_processes();
  decide_in_ = intake_.decide();
  if (tailer_ && !facts_.empty()) tell_processes();
  if (reloaded_) change_sources();
  if (may_read())
    read();
  else
    look();
  if (may_hear_kernel()) {
    kernel_->poll(now.host, watch_.get());
    tell(kernel_->take_notices());
  }
  if (now.steady >= flush_at_) flush(stopping_);
  if (std::exchange(offered_, false)) wait = session_.step(now.instant());
  if (ends_wait_ && all_is_told()) {
    watch_->ends_are_told();
    ends_wait_ = false;
  }
  if (now.steady >= remember_at_) remember();
  return next_step(wait);
}

bool Agent::may_read() const {
  return tailer_ && !stopping_ && !reloaded_ && session_.has_room() && intake_.has_room() &&
         now_.steady >= paused_until_;
}

bool Agent::may_hear_kernel() const {
  return kernel_ && tailer_ && !stopping_ && session_.has_room();
}

void Agent::read() {
  more_ = tailer_->turn(intake_, {now_.steady, now_.host.wall});
  if (!more_) intake_.turned();
}

/// While nothing can be read, what comes and goes must be known: it may be lost by then.
void Agent::look() {
  intake_.was_blocked();
  if (!tailer_ || stopping_ || now_.steady < look_at_) return;
  look_at_ = now_.steady + kLookEvery;
  tailer_->scan(intake_, {now_.steady, now_.host.wall});
}

void Agent::flush(bool all) {
  flush_at_ = now_.steady + settings_.flush;
  if (session_.has_room() && jobs_.dirty()) jobs_.flush(now_.steady, all);
}

void Agent::ship(wire::Batch&& batch) {
  session_.offer(std::move(batch));
  offered_ = true;
}

Millis Agent::next_step(Millis session) const {
  const auto until = [&](Millis at) { return std::max(Millis{0}, at - now_.steady); };
  Millis wait = session;
  if (jobs_.dirty() && session_.has_room()) wait = std::min(wait, until(flush_at_));
  if (watch_) wait = std::min(wait, until(watch_at_));
  if (decide_in_) wait = std::min(wait, *decide_in_);
  if (reloaded_ || stopping_ || lines_wait_) wait = std::min(wait, Millis{50});
  if (may_read()) {
    if (more_) return Millis{0};
    const tail::Wait tail = tailer_->wait({now_.steady, now_.host.wall});
    if (tail.at_most) wait = std::min(wait, *tail.at_most);
  } else {
    if (now_.steady < paused_until_) wait = std::min(wait, until(paused_until_));
    if (tailer_ && !stopping_) wait = std::min(wait, until(look_at_));
  }
  return wait;
}

std::vector<int> Agent::descriptors() const {
  std::vector<int> all{world_.port->wait_fd()};
  if (watch_) all.push_back(watch_->descriptor());
  all.push_back(raw_lines_.descriptor());
  if (may_hear_kernel()) all.push_back(kernel_->descriptor());
  if (may_read()) all.push_back(tailer_->wait({now_.steady, now_.host.wall}).fd);
  return all;
}

void Agent::tell(const std::vector<host::Notice>& notices) {
  for (const host::Notice& notice : notices) world_.log->warn(notice.text, now_.steady);
}

/// For the file in the state folder: without those of the kernel's log, which the tailer does not
/// know, an agent that begins alone would take them for texts that it has read under other keys.
std::vector<tail::Position> Agent::positions() const {
  std::vector<tail::Position> all = tailer_->positions();
  const auto files = static_cast<std::ptrdiff_t>(all.size());
  for (const auto& [key, counted] : counted_)
    if (counted.kernel)
      all.push_back({wire::FileId{.key = key}, kKernelLog, counted.offset, counted.lines, 0});
  std::sort(all.begin() + files, all.end(),
            [](const auto& one, const auto& other) { return one.file.key < other.file.key; });
  return all;
}

void Agent::remember() {
  remember_at_ = now_.steady + kRememberEvery;
  if (watch_ && (watch_->revision() != remembered_ || now_.steady < owned_by_))
    remember_processes();
  if (!tailer_ || !std::exchange(remember_due_, false)) return;
  remember_due_ = !kept("positions", positions_file_.save(positions()), positions_badly_);
}

/// Whether it was saved; says if it was not, and when it is again. `badly`: it was not before.
bool Agent::kept(const char* what, const Result<void>& saved, bool& badly) {
  if (!saved)
    world_.log->warn(fmt::format("{} cannot be remembered: {}", what, saved.error().text()),
                     now_.steady);
  else if (badly)
    world_.log->info(fmt::format("{} are remembered again", what), now_.steady);
  badly = !saved;
  return saved.has_value();
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
  remember();
  session_.stop("the agent stops");
}

/// Nothing is under way that the aggregator does not have.
bool Agent::all_is_told() const {
  return session_.queue().size() == 0 && facts_.empty() && !jobs_.dirty();
}

/// Nothing may be under way that only this agent has: the next one begins at what is committed.
bool Agent::may_be_replaced() const {
  return session_.state() == ship::Session::State::open && all_is_told() && tailer_ && !more_ &&
         !stopping_ && !reloaded_ && questions_.empty() && !raw_lines_.works();
}

bool Agent::is_crowded() const {
  return now_.steady - began_ >= settings_.jobs.idle_after / 6 &&
         (jobs_.crowded(now_.steady, living_) || is_grown()) && may_be_replaced();
}

std::optional<tail::Tailer> Agent::make_room(Moment now) {
  now_ = now;
  if (is_grown())
    world_.log->info("memory stays at its bound; beginning anew, without what was learned",
                     now.steady);
  else
    world_.log->info(fmt::format("{} of {} jobs have said nothing for {} s; beginning anew without "
                                 "them",
                                 jobs_.idle(now.steady, living_), jobs_.size(),
                                 settings_.jobs.idle_after.count() / 1000),
                     now.steady);
  remember_due_ = true;
  remember();
  return std::exchange(tailer_, std::nullopt);
}

std::string Agent::status() const {
  static constexpr const char* kStates[] = {"waiting to connect",  "connecting", "greeting",
                                            "comparing positions", "connected",  "stopped"};
  const tail::Counters counters = tailer_ ? tailer_->counters() : tail::Counters{};
  return fmt::format("{}; {} jobs, {} logs, {} files; {} batches wait",
                     kStates[static_cast<std::size_t>(session_.state())], jobs_.size(),
                     counters.logs, counters.files, session_.queue().size());
}

}  // namespace l4::daemon
