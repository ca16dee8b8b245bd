#include "tools/l4/replay/replay.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "common/base/earliest.h"
#include "tools/l4/replay/arrivals.h"
#include "tools/l4/replay/line_times.h"
#include "tools/l4/replay/main_times.h"
#include "tools/l4/replay/moved_text.h"
#include "tools/l4/replay/recording.h"
#include "tools/l4/replay/schedule.h"
#include "tools/l4/replay/stamp_finder.h"

namespace l4::replay {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

/// Text of one step that is held before it is written.
constexpr std::size_t kStepBytes = 8 << 20;
constexpr double kSpeedMin = 1e-3, kSpeedMax = 1e9;

/// What one log has got so far.
struct Progress {
  std::uint64_t size = 0;  ///< bytes of the recorded text
  std::string pending;     ///< the begin of a line that is written but not complete
  std::string fresh;       ///< to be written in this step
};

Millis scaled(Millis span, double by) {
  return Millis{std::llround(static_cast<double>(span.count()) * by)};
}

}  // namespace

struct Replay::State {
  State(Options given, Recording read, Schedule planned)
      : options(std::move(given)), recording(std::move(read)), schedule(std::move(planned)) {}

  Options options;
  Recording recording;
  Schedule schedule;
  std::unique_ptr<StampFinder> finder;
  std::vector<MovedText> texts;  // of each log
  std::vector<std::string> notes;
  bool prints_times = false;
  Millis difference{0};
  Arrivals arrivals;
  std::vector<Progress> progress;
  std::vector<Fact> facts;
  TimeMs start;
  Millis shift{0};
  std::size_t next = 0;  // of the schedule
  std::uint64_t lines = 0;

  TimeMs wall(TimeMs recorded) const {
    return start + scaled(schedule.since_begin(recorded), 1 / options.speed);
  }
  fs::path folder(const std::string& node) const { return options.to / node; }
  fs::path path(std::uint32_t log) const {
    return folder(recording.logs[log].node) / recording.logs[log].file;
  }
  void note_silences();
  void find_places(const std::vector<LineTimes>& times, std::optional<TimeMs> hint);
  void set_shift(TimeMs now);
  void take(const Due& due);
  Result<void> flush(std::vector<std::uint32_t>& touched,
                     const std::function<void(const Written&)>& tell);
};

/// The greatest shift with which no line is ahead of the clock when it is written, and the start
/// that makes it whole seconds.
void Replay::State::set_shift(TimeMs now) {
  start = now;
  Millis lead = Millis::max();
  for (const Due& due : schedule.dues()) lead = std::min(lead, wall(due.at) - due.at);
  const auto whole = std::chrono::ceil<seconds>(lead);
  start += whole - lead;
  shift = whole + std::chrono::round<seconds>(difference);
  facts.clear();
  for (const Arrivals::Fact& fact : arrivals.facts) facts.push_back({wall(fact.at), fact.text});
}

void Replay::State::note_silences() {
  for (const auto& [end, length] : schedule.silences())
    notes.push_back("a silence of " + to_human(length) + " before " + to_rfc3339(end) +
                    " (as recorded) is shortened to " + to_human(kSilenceLeft));
}

/// The lines are tried with the shift of a replay that begins a year after the recording.
void Replay::State::find_places(const std::vector<LineTimes>& times, std::optional<TimeMs> hint) {
  constexpr Millis kTried = std::chrono::days{398} + std::chrono::seconds{20'223};
  const MainTimes main{times};
  finder = std::make_unique<StampFinder>(main.first(), main.last());
  for (std::size_t log = 0; log < recording.logs.size(); ++log) {
    const Log& from = recording.logs[log];
    UnmovedLines unmoved;
    texts.emplace_back(
        from.text,
        finder->find(from.text, times[log], hint ? hint : from.modified, kTried, unmoved),
        finder->forms());
    if (unmoved.count > 0)
      notes.push_back(from.name + ": " + std::to_string(unmoved.count) +
                      (unmoved.count == 1 ? " line keeps its" : " lines keep their") +
                      " printed time (format " + std::string(times[log].format) + ", first: line " +
                      std::to_string(unmoved.first) + ")");
  }
}

void Replay::State::take(const Due& due) {
  Progress& log = progress[due.log];
  if (due.size <= log.size) return;
  texts[due.log].append(log.size, due.size, std::chrono::floor<seconds>(shift), log.fresh);
  log.size = due.size;
}

Result<void> Replay::State::flush(std::vector<std::uint32_t>& touched,
                                  const std::function<void(const Written&)>& tell) {
  for (const std::uint32_t index : touched) {
    Progress& log = progress[index];
    const fs::path file = path(index);
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    errno = 0;
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out << log.fresh;
    out.close();
    if (!out)
      return std::unexpected(Error{file.string(), std::string("cannot be written: ") +
                                                      std::strerror(errno == 0 ? EIO : errno)});
    log.pending += std::exchange(log.fresh, {});
    const bool ended = log.size == texts[index].text().size();
    const std::size_t end = ended ? log.pending.size() : log.pending.rfind('\n') + 1;
    if (end == 0) continue;
    const std::string_view whole = std::string_view(log.pending).substr(0, end);
    lines += static_cast<std::uint64_t>(std::ranges::count(whole, '\n')) + (whole.back() != '\n');
    if (tell) tell({recording.logs[index].node, recording.logs[index].file, whole});
    log.pending.erase(0, end);
  }
  touched.clear();
  return {};
}

Replay::Replay(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replay::~Replay() = default;
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;

Result<Replay> Replay::load(const Options& options) {
  if (!(options.speed >= kSpeedMin && options.speed <= kSpeedMax))
    return std::unexpected(Error{"speed", "must be from 0.001 to 1e9"});
  auto recording = read_recording(options.from);
  if (!recording) return std::unexpected(recording.error());
  if (std::ranges::all_of(recording->logs, [](const Log& log) { return log.text.empty(); }))
    return std::unexpected(Error{options.from.string(), "holds no line: all logs are empty"});
  Arrivals arrivals;
  if (!options.arrivals.empty()) {
    auto loaded = load_arrivals(options.arrivals);
    if (!loaded) return std::unexpected(loaded.error());
    arrivals = std::move(*loaded);
  }
  std::optional<TimeMs> hint;
  for (const Log& log : recording->logs) keep_latest(hint, latest_full_time(log.text));
  std::vector<LineTimes> times;
  for (const Log& log : recording->logs)
    times.push_back(read_times(log.text, hint ? hint : log.modified));
  std::vector<std::string> notes = std::move(recording->notes);
  auto schedule = options.arrivals.empty() ? by_printed_times(*recording, times, notes)
                                           : by_arrivals(*recording, arrivals, options.arrivals);
  if (!schedule) return std::unexpected(schedule.error());
  auto state = std::make_unique<State>(options, std::move(*recording), std::move(*schedule));
  state->arrivals = std::move(arrivals);
  if (!options.arrivals.empty()) state->difference = clock_difference(state->schedule, times);
  state->prints_times = std::ranges::any_of(times, [](const LineTimes& log) {
    return std::ranges::any_of(log.lines, [](const Line& line) { return line.time.has_value(); });
  });
  state->notes = std::move(notes);
  state->note_silences();
  state->find_places(times, hint);
  return Replay{std::move(state)};
}

const std::vector<std::string>& Replay::nodes() const {
  return state_->recording.nodes;
}

fs::path Replay::folder_of(const std::string& node) const {
  return state_->folder(node);
}

Millis Replay::length() const {
  return scaled(state_->schedule.length(), 1 / state_->options.speed);
}

const std::vector<std::string>& Replay::unmoved() const {
  return state_->notes;
}

bool Replay::prints_times() const {
  return state_->prints_times;
}

Millis Replay::shift() const {
  return state_->shift;
}

const std::vector<Fact>& Replay::facts() const {
  return state_->facts;
}

std::uint64_t Replay::lines() const {
  return state_->lines;
}

Result<void> Replay::begin(TimeMs now) {
  State& state = *state_;
  state.set_shift(now);
  state.next = 0;
  state.lines = 0;
  state.progress.assign(state.texts.size(), {});
  for (std::uint32_t log = 0; log < state.texts.size(); ++log) {
    const bool empty = state.texts[log].text().empty();
    const fs::path folder =
        empty ? state.path(log).parent_path() : state.folder(state.recording.logs[log].node);
    std::error_code error;
    if (fs::exists(state.path(log), error))
      return std::unexpected(
          Error{state.path(log).string(), "exists already; a replay writes into a new folder"});
    fs::create_directories(folder, error);
    if (error) return std::unexpected(Error{folder.string(), error.message()});
    if (!empty) continue;
    if (!std::ofstream{state.path(log), std::ios::binary | std::ios::app})
      return std::unexpected(Error{state.path(log).string(), "cannot be written"});
  }
  return {};
}

Result<std::optional<TimeMs>> Replay::step(TimeMs now,
                                           const std::function<void(const Written&)>& tell) {
  State& state = *state_;
  L4_CHECK(state.progress.size() == state.texts.size(), "step() before begin(), {} logs",
           state.texts.size());
  const auto& dues = state.schedule.dues();
  std::vector<std::uint32_t> touched;
  std::size_t bytes = 0;
  while (state.next < dues.size() && state.wall(dues[state.next].at) <= now) {
    const Due& due = dues[state.next++];
    std::string& fresh = state.progress[due.log].fresh;
    const std::size_t before = fresh.size();
    state.take(due);
    if (before == 0 && !fresh.empty()) touched.push_back(due.log);
    bytes += fresh.size() - before;
    if (bytes < kStepBytes) continue;
    if (auto done = state.flush(touched, tell); !done) return std::unexpected(done.error());
    bytes = 0;
  }
  if (auto done = state.flush(touched, tell); !done) return std::unexpected(done.error());
  if (state.next == dues.size()) return std::nullopt;
  return state.wall(dues[state.next].at);
}

}  // namespace l4::replay
