#include "agent/daemon/log_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/daemon/kernel_feed.h"
#include "common/base/check.h"

namespace l4::daemon {
namespace {

/// How much is read before the agent serves the link again.
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

/// The kernel's log has positions, but is not a followed file.
bool is_kernel(const wire::FileId& file) {
  return file.inode == 0;
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

/// Whether the tailer follows the logs of the settings, and has committed nothing that would be
/// read again.
bool can_go_on(const tail::Tailer& tailer, const Settings& settings, const Offsets& committed) {
  return followed(tailer.options()) == followed(settings) &&
         std::ranges::all_of(tailer.positions(), [&](const tail::Position& position) {
           return committed.reach(position.file.key, position.offset);
         });
}

}  // namespace

LogFollower::LogFollower(const Settings& settings, std::uint64_t seed,
                         std::optional<tail::Tailer> former, OwnLog& log)
    : settings_(settings),
      log_(log),
      seed_(seed),
      former_(std::move(former)),
      file_((settings.state / "positions").string()),
      save_log_("positions", log) {}

void LogFollower::begin(const std::vector<tail::Position>& positions, tail::Known known,
                        Millis steady) {
  if (former_ && can_go_on(*former_, settings_, Offsets(positions))) {
    tailer_ = std::exchange(former_, std::nullopt);
    bytes_of_former_ = tailer_->counters().bytes;
    tailer_->begin_anew();
    tailer_->resume(positions, known);
    return;
  }
  former_.reset();
  bytes_of_former_ = 0;
  auto watcher = tail::make_inotify_watcher();
  if (!watcher)
    log_.warn("changes are looked for, not noticed: the system gives no inotify instance", steady);
  auto made =
      tail::Tailer::make(tail_options(settings_, seed_ + ++tailers_made_), tail::real_file_system(),
                         watcher ? std::move(*watcher) : tail::make_blind_watcher());
  if (!made) {
    log_.write(OwnLog::Weight::error, made.error().text(), steady);
    return;
  }
  tailer_.emplace(std::move(*made));
  tailer_->resume(positions, known);
}

void LogFollower::begin_alone(Millis steady) {
  auto loaded = file_.load();
  if (!loaded) log_.warn(loaded.error().text(), steady);
  std::vector<tail::Position> positions;
  if (loaded) positions = std::move(loaded->positions);
  log_.info(
      fmt::format("no aggregator yet; reading on from {} remembered positions", positions.size()),
      steady);
  for (const tail::Position& position : positions)
    committed_[position.file.key] = {position.offset, position.lines, is_kernel(position.file)};
  std::erase_if(positions, [](const tail::Position& one) { return is_kernel(one.file); });
  begin(positions, tail::Known::by_us, steady);
}

/// True if the aggregator has less than it once acknowledged. Only a new tailer reads the missing
/// bytes again.
bool LogFollower::goes_back(const std::vector<wire::Position>& committed) const {
  const Offsets theirs(committed);
  return std::ranges::any_of(committed_, [&](const auto& entry) {
    return !theirs.reach(entry.first, entry.second.offset);
  });
}

bool LogFollower::goes_on(const std::vector<wire::Position>& committed) const {
  return tailer_ && !goes_back(committed);
}

void LogFollower::resume(const std::vector<wire::Position>& committed, Millis steady) {
  const bool on = goes_on(committed);
  std::unordered_map<std::uint64_t, tail::Position> remembered;
  if (tailer_) {
    for (tail::Position& position : tailer_->positions())
      remembered.emplace(position.file.key, std::move(position));
  } else if (auto loaded = file_.load()) {
    for (tail::Position& position : loaded->positions)
      remembered.emplace(position.file.key, std::move(position));
  }
  committed_.clear();
  std::vector<tail::Position> positions;
  for (const wire::Position& position : committed) {
    committed_[position.file.key] = {position.offset, position.lines, is_kernel(position.file)};
    if (is_kernel(position.file)) continue;
    const auto known = remembered.find(position.file.key);
    const bool here = known != remembered.end();
    positions.push_back({position.file, here ? known->second.path : position.path, position.offset,
                         position.lines, here ? known->second.known : 0});
  }
  if (on) {
    tailer_->resume(positions, tail::Known::by_the_aggregator);
    tailer_->rewind();
  } else {
    tailer_.reset();
    begin(positions, tail::Known::by_the_aggregator, steady);
  }
}

void LogFollower::change_sources(Millis steady) {
  L4_CHECK(tailer_.has_value(), "the sources change before a log is followed");
  const std::vector<tail::Position> positions = tailer_->positions();
  tailer_.reset();
  begin(positions, tail::Known::by_the_aggregator, steady);
}

bool LogFollower::knows(std::uint64_t file_key) const {
  return committed_offset(file_key) > 0;
}

std::uint64_t LogFollower::committed_offset(std::uint64_t file_key) const {
  const auto found = committed_.find(file_key);
  return found == committed_.end() ? 0 : found->second.offset;
}

void LogFollower::commit(const std::vector<wire::Coverage>& coverage) {
  changed_ = true;
  // An acknowledgement means that the positions fit: every file that the aggregator counts is known
  // here.
  if (tailer_) tailer_->all_known();
  for (const wire::Coverage& part : coverage) {
    Committed& committed = committed_[part.file.key];
    committed.offset = std::max(committed.offset, part.bytes.to);
    committed.lines += part.lines;
    committed.kernel = is_kernel(part.file);
    lines_committed_ += part.lines;
    if (tailer_) tailer_->commit(part.file.key, committed.offset, committed.lines);
  }
}

/// The positions of the tailer and of the kernel's log, which the tailer does not know. Without the
/// position of the kernel's log, an agent that began alone would take the aggregator's position of
/// that log for the position of a file with another key.
std::vector<tail::Position> LogFollower::positions() const {
  std::vector<tail::Position> all = tailer_->positions();
  const auto files = static_cast<std::ptrdiff_t>(all.size());
  for (const auto& [key, committed] : committed_)
    if (committed.kernel)
      all.push_back(
          {wire::FileId{.key = key}, kKernelLogPath, committed.offset, committed.lines, 0});
  std::sort(all.begin() + files, all.end(),
            [](const auto& one, const auto& other) { return one.file.key < other.file.key; });
  return all;
}

void LogFollower::save(Millis steady, bool always) {
  changed_ = changed_ || always;
  if (!tailer_ || !std::exchange(changed_, false)) return;
  changed_ = !save_log_.saved(file_.save(positions()), steady);
}

}  // namespace l4::daemon
