#include "agent/tail/tailer.h"

#include <algorithm>
#include <utility>

#include "agent/tail/context.h"
#include "agent/tail/reader.h"
#include "agent/tail/scanner.h"
#include "common/base/check.h"

namespace l4::tail {
namespace {

constexpr std::uint64_t kCutsMax = 1024;  // cuts of one file

}  // namespace

struct Tailer::State {
  State(Options options, FileSystem& files, Sources sources, std::unique_ptr<Watcher> watcher)
      : context(std::move(options), files),
        open_files(context),
        folders(context, std::move(sources), std::move(watcher)),
        placement(context, folders, open_files),
        scanner(context, folders, placement),
        reader(context, folders, open_files, placement, scanner) {}

  void run_alarms();
  void run(const Alarm& alarm);
  void begin(Sink& sink, Now now);
  void notice();
  void end();
  bool read_ready();
  void release_deleted();
  bool is_at(const LogPart& part, const Position& position);
  LogPart* taken_by(const Position& position);
  void skip_to(LogPart& part, std::uint64_t offset);
  void drop_heads();
  void rewind(TailedLog& log);
  void cool();

  Context context;
  OpenFiles open_files;
  Folders folders;
  Placement placement;
  Scanner scanner;
  Reader reader;
  bool started = false;
  bool folders_left = false;
  std::size_t found = 0;  ///< bytes found since notices were last read
};

void Tailer::State::cool() {
  const Options& options = context.options;
  const Millis longer{found / options.bytes_per_pause_ms};
  context.cool_until = context.now.steady + std::min(options.pause + longer, options.pause_most);
}

void Tailer::State::run(const Alarm& alarm) {
  TailedLog* log = context.table.find_log(LogId{static_cast<std::uint32_t>(alarm.key)});
  switch (alarm.of) {
    case Alarm::Of::part:
      if (LogPart* part = context.table.by_key(alarm.key)) {
        if (part->alarm == alarm.at) part->alarm = Millis{0};
        context.touch(*part);
      }
      return;
    case Alarm::Of::log:
      if (log == nullptr) return;
      if (log->parts.empty())
        context.table.erase_if_empty(*log);
      else
        context.wake(*log);
      return;
    case Alarm::Of::quiet: {
      if (log == nullptr) return;
      const Millis at = log->last_bytes + context.options.quiet_after;
      log->quiet_alarm = at > context.now.steady;
      if (log->quiet_alarm) {
        context.alarms.push({at, Alarm::Of::quiet, alarm.key});
      } else if (!log->offered && log->announced) {
        log->offered = true;
        context.sink->quiet(log->id);
      }
      return;
    }
    case Alarm::Of::folder:
      folders.folder_due(alarm.folder);
      return;
    case Alarm::Of::poll:
      folders.poll(alarm.key);
      return;
  }
}

void Tailer::State::run_alarms() {
  while (!context.alarms.empty() && context.alarms.top().at <= context.now.steady) {
    const Alarm alarm = context.alarms.top();
    context.alarms.pop();
    run(alarm);
  }
}

/// Reads the logs in turn, so that a log with very many writes does not hold up the others.
bool Tailer::State::read_ready() {
  std::size_t budget = context.options.bytes_per_turn;
  for (std::size_t left = context.ready.size(); budget > 0 && !context.ready.empty();) {
    const LogId id = context.ready.front();
    context.ready.pop_front();
    TailedLog* log = context.table.find_log(id);
    if (log != nullptr) {
      log->queued = false;
      const Reader::Visit visit = reader.visit(*log, budget);
      budget -= std::min(budget, visit.bytes);
      found += visit.bytes;
      if (visit.bytes > 0) cool();
      // The log may have ended, and be gone, with its last part.
      if (visit.more) log = context.table.find_log(id);
      if (visit.more && log != nullptr) context.wake(*log);
      if (visit.more && visit.bytes == 0 && left <= 1) break;
    }
    if (left > 0) --left;
  }
  return !context.ready.empty();
}

/// Whether a part with a key of its own has the text of the position: the same beginning, and at
/// least its length.
bool Tailer::State::is_at(const LogPart& part, const Position& position) {
  const wire::FileId& id = position.file;
  if (part.committed > 0 || part.resumed) return false;
  if (!part.head.empty()) {
    const std::string_view head = part.head;
    return head.size() >= id.fingerprint_bytes && (part.packed || part.known >= position.offset) &&
           fingerprint_of(head.substr(0, id.fingerprint_bytes)) == id.fingerprint;
  }
  if (!part.named || part.packed) return false;
  auto opened = context.files.open(part.path);
  if (!opened) return false;
  auto text = TextFile::make(std::move(*opened));
  if (!text) return false;
  const auto status = text->status();
  const auto head = text->head(id.fingerprint_bytes);
  return status && head && status->inode == part.id.inode && status->device == part.id.device &&
         status->bytes >= position.offset && head->size() == id.fingerprint_bytes &&
         fingerprint_of(*head) == id.fingerprint;
}

/// The part that belongs to a position, but got a key of its own before the position was known. Its
/// text may be in another file by now.
LogPart* Tailer::State::taken_by(const Position& position) {
  const wire::FileId& id = position.file;
  const Holder holder = context.table.by_file(id.device, id.inode);
  if (holder.part != nullptr && !holder.copy && is_at(*holder.part, position)) return holder.part;
  if (!context.keeps_heads || id.fingerprint_bytes == 0) return nullptr;
  const auto [folder, name] = split_folder(position.path);
  for (LogPart* part : context.table.relatives(folder, folders.base_of(folder, name))) {
    const bool rotated = part->name.kind != discover::RotatedName::Kind::current;
    if (!rotated && id.fingerprint_bytes < kFingerprintMin) continue;
    if (is_at(*part, position)) return part;
  }
  return nullptr;
}

Tailer::Tailer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tailer::~Tailer() = default;
Tailer::Tailer(Tailer&&) noexcept = default;
Tailer& Tailer::operator=(Tailer&&) noexcept = default;

Result<Tailer> Tailer::make(Options options, FileSystem& files, std::unique_ptr<Watcher> watcher) {
  auto sources = Sources::compile(options.sources, options.excludes);
  if (!sources) return std::unexpected(sources.error());
  options.bytes_per_file = std::max<std::size_t>(options.bytes_per_file, 1);
  options.bytes_per_pause_ms = std::max<std::size_t>(options.bytes_per_pause_ms, 1);
  options.bytes_per_turn = std::max(options.bytes_per_turn, options.bytes_per_file);
  options.descriptors_max = std::max(options.descriptors_max, kOpenMin);
  return Tailer{
      std::make_unique<State>(std::move(options), files, std::move(*sources), std::move(watcher))};
}

/// The bytes before `offset` are counted: they are not read again.
void Tailer::State::skip_to(LogPart& part, std::uint64_t offset) {
  if (offset <= part.read) return;
  part.read = offset;
  part.ending.clear();
  part.started = part.ahead = true;
  part.known = std::max(part.known, part.read);
  context.touch(part);
}

void Tailer::State::drop_heads() {
  context.keeps_heads = false;
  if (std::exchange(context.counters.heads, 0) == 0) return;
  context.table.each([](LogPart& part) { part.head = std::string(); });
}

std::vector<LogId> Tailer::resume(std::span<const Position> positions, Known known) {
  Context& context = state_->context;
  std::vector<LogId> again;
  for (const Position& position : positions) {
    LogPart* part = position.file.key == 0 ? nullptr : context.table.by_key(position.file.key);
    if (position.file.key == 0 || position.file.fingerprint_bytes > kHeadBytes) continue;
    if (part != nullptr) {
      state_->skip_to(*part, position.offset);
      commit(position.file.key, position.offset, position.lines);
      continue;
    }
    part = state_->taken_by(position);
    if (part != nullptr) {
      context.table.set_key(*part, position.file.key);
      part->alarm = Millis{0};  // the alarm was set for the old key
      context.touch(*part);
      state_->skip_to(*part, position.offset);
      again.push_back(part->log->id);
    } else if (position.offset > 0 && context.table.parts() < context.options.files_max) {
      const auto [folder, name] = split_folder(position.path);
      TailedLog& log = context.table.log_of(folder, state_->folders.base_of(folder, name));
      part = &context.table.add(log, position.file, position.path);
      part->resumed = true;
      const Holder holder = context.table.by_file(position.file.device, position.file.inode);
      // If a file was cut back, the last of its parts has the file.
      const bool cut = holder.part != nullptr && holder.part->resumed &&
                       position.file.key - holder.part->id.key < kCutsMax;
      if (holder.part == nullptr || holder.copy || cut)
        context.table.set_file(*part, position.file.device, position.file.inode);
      context.resumed.push_back(position.file.key);
      part->read = position.offset;
      state_->folders.changed(position.path);
    } else {
      continue;
    }
    part->committed = position.offset;
    part->lines = position.lines;
    part->known = std::max({part->known, position.known, position.offset});
  }
  if (known == Known::by_us)
    context.keeps_heads = true;
  else
    state_->drop_heads();
  for (const LogId id : again) {
    TailedLog* const log = context.table.find_log(id);
    L4_CHECK(log != nullptr, "log {} has gone while positions were resumed", id);
    state_->rewind(*log);
  }
  return again;
}

void Tailer::all_known() {
  state_->drop_heads();
}

void Tailer::State::begin(Sink& sink, Now now) {
  context.now = now;
  context.sink = &sink;
  ++context.counters.turns;
  if (!started) folders.poll(0);
  started = true;
}

void Tailer::State::notice() {
  const Millis now = context.now.steady;
  if (now >= context.cool_until) {
    found = 0;
    if (folders.read_notices()) cool();
  }
  run_alarms();
  folders_left = scanner.work();
}

void Tailer::State::end() {
  context.counters.files = context.table.parts();
  context.counters.logs = context.table.logs();
  context.sink = nullptr;
}

/// Closes deleted files in time: they occupy disk space as long as they are open.
void Tailer::State::release_deleted() {
  std::vector<LogPart*> over;
  for (LogPart* part : context.open)
    if (!part->named && context.now.steady >= part->give_up + context.options.deleted_hold)
      over.push_back(part);
  for (LogPart* part : over) placement.release(*part);
}

bool Tailer::turn(Sink& sink, Now now) {
  State& state = *state_;
  state.begin(sink, now);
  state.notice();
  const bool more = state.read_ready() || state.folders_left;
  state.end();
  return more;
}

void Tailer::scan(Sink& sink, Now now) {
  State& state = *state_;
  state.begin(sink, now);
  state.notice();
  state.release_deleted();
  state.end();
}

Wait Tailer::wait(Now now) const {
  const State& state = *state_;
  if (!state.started || state.folders_left || !state.context.ready.empty()) return {-1, Millis{0}};
  Wait wait;
  if (!state.context.alarms.empty())
    wait.at_most = std::max(Millis{0}, state.context.alarms.top().at - now.steady);
  if (now.steady >= state.context.cool_until) {
    wait.fd = state.folders.fd();
  } else if (state.folders.fd() >= 0) {
    const Millis cool = state.context.cool_until - now.steady;
    wait.at_most = std::min(cool, wait.at_most.value_or(cool));
  }
  return wait;
}

void Tailer::commit(std::uint64_t key, std::uint64_t offset, std::uint64_t lines) {
  LogPart* part = state_->context.table.by_key(key);
  if (part == nullptr || offset < part->committed) return;
  part->committed = offset;
  part->lines = lines;
  if (part->closed) state_->context.wake(*part->log);
}

void Tailer::State::rewind(TailedLog& log) {
  log.at_key = 0;
  for (LogPart* part : log.parts) {
    if (part->read <= part->committed) continue;
    part->known = std::max(part->known, part->read);
    part->read = part->committed;
    part->ending.clear();
    part->shorter.reset();
    part->complete = false;
    part->raw = 0;
    context.touch(*part);
  }
  context.wake(log);
}

void Tailer::rewind() {
  state_->context.table.each_log([&](TailedLog& log) { state_->rewind(log); });
}

void Tailer::begin_anew() {
  state_->context.table.each_log([&](TailedLog& log) {
    log.announced = false;
    log.offered = true;
    state_->rewind(log);
  });
}

std::vector<Position> Tailer::positions() const {
  std::vector<Position> positions;
  state_->context.table.each([&](LogPart& part) {
    if (part.closed && !part.unread() && part.committed >= part.read)
      return;  // the part is about to be forgotten
    positions.push_back({part.id, part.path, part.committed, part.lines, part.known});
  });
  std::ranges::sort(positions, {}, [](const Position& position) {
    return std::pair(std::string_view(position.path), position.file.key);
  });
  return positions;
}

void Tailer::hold_open(std::size_t most) {
  Context& context = state_->context;
  context.options.descriptors_max = std::max(kOpenMin, most);
  while (context.open.size() > context.options.descriptors_max && state_->open_files.make_room()) {
  }
}

const Counters& Tailer::counters() const {
  return state_->context.counters;
}

const Options& Tailer::options() const {
  return state_->context.options;
}

}  // namespace l4::tail
