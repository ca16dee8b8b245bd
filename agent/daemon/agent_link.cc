// What the link asks of the agent: where to read on, what is counted, what to define again.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "agent/daemon/agent.h"

namespace l4::daemon {
namespace {

constexpr std::size_t kQuestionsMax = 16;
/// What is read between two looks at the link.
constexpr std::size_t kBytesPerTurn = 1u << 20, kBytesPerFile = 128u << 10;

tail::Options tail_options(const Settings& settings, std::uint64_t seed) {
  tail::Options options;
  options.sources = settings.sources;
  options.excludes = settings.excludes;
  options.old_after = settings.old_after;
  options.bytes_per_turn = kBytesPerTurn;
  options.bytes_per_file = kBytesPerFile;
  options.descriptors_max = tail::descriptors_allowed();
  options.seed = seed;
  return options;
}

/// The kernel's log has positions, and is none of the files that are followed.
bool is_kernel(const wire::FileId& file) {
  return file.inode == 0;
}

/// Why questions are refused for now; empty: they are not.
std::string_view busy(const ship::Session& session, const host::Limits& limits) {
  if (session.pressure() < wire::Shedding::examples) return {};
  return limits.over_memory() ? "the agent's memory is at its bound ([limits] resident_mib)"
                              : "the agent is behind: batches wait to be sent";
}

/// How far each file is counted.
class Offsets {
 public:
  template <class Positions>
  explicit Offsets(const Positions& positions) {
    for (const auto& position : positions) offsets_[position.file.key] = position.offset;
  }
  bool reach(std::uint64_t key, std::uint64_t offset) const {
    const auto found = offsets_.find(key);
    return offset <= (found == offsets_.end() ? 0 : found->second);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> offsets_;
};

/// Which logs are followed, of settings or of a tailer's options.
auto wanted(const auto& from) {
  return std::tie(from.sources, from.excludes, from.old_after);
}

/// It follows the logs that are asked for, and nothing is to be read again that was committed.
bool can_go_on(const tail::Tailer& tailer, const Settings& settings, const Offsets& committed) {
  return wanted(tailer.options()) == wanted(settings) &&
         std::ranges::all_of(tailer.positions(), [&](const tail::Position& position) {
           return committed.reach(position.file.key, position.offset);
         });
}

}  // namespace

void Agent::begin_tailing(const std::vector<tail::Position>& positions, tail::Known known) {
  if (world_.tailer && can_go_on(*world_.tailer, settings_, Offsets(positions))) {
    tailer_ = std::exchange(world_.tailer, std::nullopt);
    bytes_before_ = tailer_->counters().bytes;
    tailer_->begin_anew();
    tailer_->resume(positions, known);
    return;
  }
  world_.tailer.reset();
  auto watcher = tail::make_inotify_watcher();
  if (!watcher)
    world_.log->warn("changes are looked for, not noticed: the system gives no inotify instance",
                     now_.steady);
  auto made = tail::Tailer::make(tail_options(settings_, world_.seed + ++tailers_made_),
                                 tail::real_file_system(),
                                 watcher ? std::move(*watcher) : tail::make_blind_watcher());
  if (!made) {
    world_.log->say(OwnLog::Weight::error, made.error().text(), now_.steady);
    return;
  }
  tailer_.emplace(std::move(*made));
  tailer_->resume(positions, known);
}

/// Nobody answers: what is read now may be gone later. If the aggregator knows otherwise, that is
/// found out when it is there.
void Agent::begin_alone() {
  auto loaded = positions_file_.load();
  if (!loaded) world_.log->warn(loaded.error().text(), now_.steady);
  std::vector<tail::Position> positions;
  if (loaded) positions = std::move(loaded->positions);
  world_.log->info(
      fmt::format("no aggregator yet; reading on from {} remembered positions", positions.size()),
      now_.steady);
  for (const tail::Position& position : positions)
    counted_[position.file.key] = {position.offset, position.lines, is_kernel(position.file)};
  std::erase_if(positions, [](const tail::Position& one) { return is_kernel(one.file); });
  begin_tailing(positions, tail::Known::by_us);
}

/// The aggregator has less than it once acknowledged: only a new tailer reads that again.
bool Agent::goes_back(const std::vector<wire::Position>& committed) const {
  const Offsets theirs(committed);
  return std::ranges::any_of(
      counted_, [&](const auto& entry) { return !theirs.reach(entry.first, entry.second.offset); });
}

void Agent::read_from(const std::vector<wire::Position>& committed) {
  const bool back = goes_back(committed);
  std::unordered_map<std::uint64_t, tail::Position> remembered;
  if (tailer_) {
    for (tail::Position& position : tailer_->positions())
      remembered.emplace(position.file.key, std::move(position));
  } else if (auto loaded = positions_file_.load()) {
    for (tail::Position& position : loaded->positions)
      remembered.emplace(position.file.key, std::move(position));
  }
  counted_.clear();
  std::vector<tail::Position> positions;
  for (const wire::Position& position : committed) {
    counted_[position.file.key] = {position.offset, position.lines, is_kernel(position.file)};
    if (is_kernel(position.file)) continue;
    const auto known = remembered.find(position.file.key);
    const bool here = known != remembered.end();
    positions.push_back({position.file, here ? known->second.path : position.path, position.offset,
                         position.lines, here ? known->second.known : 0});
  }
  const bool again = tailer_ && !back;
  intake_.restart(!again);
  if (again) {
    tailer_->resume(positions, tail::Known::by_the_aggregator);
    tailer_->rewind();
  } else {
    tailer_.reset();
    begin_tailing(positions, tail::Known::by_the_aggregator);
  }
  if (kernel_) kernel_->restart();
  if (watch_) facts_ = watch_->facts();
}

/// What is remembered with nothing counted is read from its beginning, under a key of its own.
bool Agent::knows(std::uint64_t file_key) const {
  const auto found = counted_.find(file_key);
  return found != counted_.end() && found->second.offset > 0;
}

void Agent::committed(const std::vector<wire::Coverage>& coverage) {
  remember_due_ = true;
  if (tailer_) tailer_->all_known();  // else all would have been read again
  for (const wire::Coverage& part : coverage) {
    Counted& counted = counted_[part.file.key];
    counted.offset = std::max(counted.offset, part.bytes.to);
    counted.lines += part.lines;
    counted.kernel = is_kernel(part.file);
    lines_committed_ += part.lines;
    if (tailer_) tailer_->commit(part.file.key, counted.offset, counted.lines);
  }
}

void Agent::define_again(const std::string& job, const std::vector<LocalTemplateId>& templates) {
  if (pipeline::JobPipeline* pipeline = jobs_.find(job)) pipeline->define_again(templates);
}

void Agent::asked(const wire::Ask& question) {
  if (questions_.size() < kQuestionsMax) questions_.push_back(question);
}

void Agent::answer_questions() {
  for (const wire::Ask& question : std::exchange(questions_, {}))
    raw_lines_.ask(question, tailer_ ? &*tailer_ : nullptr, busy(session_, limits_), now_.steady);
  lines_wait_ = raw_lines_.send(session_);
}

bool Agent::said(ship::Saying kind, std::string_view what) {
  if (kind == ship::Saying::recovery) {
    world_.log->recovered(what, now_.steady);
    return true;
  }
  const bool trouble = kind == ship::Saying::trouble;
  return world_.log->say(trouble ? OwnLog::Weight::warning : OwnLog::Weight::info, what,
                         now_.steady);
}

void Agent::reload(Settings settings, Moment now) {
  now_ = now;
  for (const std::string& name : fixed_differences(settings_, settings))
    world_.log->warn(fmt::format("[{}] has changed: takes effect at the next start", name),
                     now.steady);
  settings_.flush = settings.flush;
  const bool sources = wanted(settings) != wanted(settings_);
  if (sources) reloaded_ = std::move(settings);
  world_.log->info("the configuration was read again", now.steady);
}

/// Once nothing is under way, other sources are read from what is committed.
void Agent::change_sources() {
  if (jobs_.dirty() && session_.has_room()) jobs_.flush(now_.steady, true);
  if (session_.queue().size() > 0 || !tailer_) return;
  settings_.sources = std::move(reloaded_->sources);
  settings_.excludes = std::move(reloaded_->excludes);
  settings_.old_after = reloaded_->old_after;
  reloaded_.reset();
  const std::vector<tail::Position> positions = tailer_->positions();
  intake_.restart(true);
  tailer_.reset();
  begin_tailing(positions, tail::Known::by_the_aggregator);
  if (kernel_) kernel_->restart();
}

}  // namespace l4::daemon
