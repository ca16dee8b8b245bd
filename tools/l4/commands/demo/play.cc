#include "tools/l4/commands/demo/play.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <utility>

#include "agent/discover/discover.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"
#include "common/base/ascii.h"
#include "common/base/vocabulary.h"
#include "common/config/config_dir.h"
#include "tools/l4/ask/client_file.h"
#include "tools/l4/commands/demo/questions.h"
#include "tools/l4/terminal/exit.h"

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

constexpr auto kSample = "crash-rank4";
constexpr std::size_t kNodesMax = 64;
constexpr int kReaderGone = 128 + SIGPIPE, kBySignal = 128;
constexpr Millis kLook{50};               // at children and signals
constexpr Millis kDrawEvery{200};         // the block
constexpr Millis kRowEvery{5'000};        // a row, where nothing can be rewritten
constexpr Millis kAskEvery{400};          // the aggregator, for its counts
constexpr Millis kConnectMost{20'000};    // until all agents are there
constexpr Millis kPrintedRoughly{1'500};  // many times are printed without fractions
// The report has settled when nothing has come for so long: behind all lines, and if some are
// missing.
constexpr Millis kCalm{1'500}, kCalmIncomplete{5'000};
constexpr Millis kAlertMost{35'000};  // behind the last line, if the report tells of a failure

TimeMs wall_clock() {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

std::unexpected<Stop> cannot(const Error& error, int exit = terminal::kNothingRead) {
  return std::unexpected(Stop{exit, error});
}

/// l4 as the user has called it.
std::string called_as() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name.empty() ? "l4" : name;
}

/// Variables that come before client.toml.
std::vector<std::string> hiding_variables() {
  std::vector<std::string> names;
  for (const char* name : {"L4_ADDRESS", "L4_TOKEN", "L4_CA"})
    if (!ask::of_environment(name).empty()) names.emplace_back(name);
  return names;
}

/// The last line that holds a word; empty if none does.
std::string_view last_words(std::string_view lines) {
  while (!lines.empty()) {
    if (lines.ends_with('\n')) lines.remove_suffix(1);
    const std::size_t begin = lines.rfind('\n') + 1;
    if (std::ranges::any_of(lines.substr(begin), is_letter)) return lines.substr(begin);
    lines = lines.substr(0, begin);
  }
  return {};
}

/// Room for the recording, for what the aggregator keeps of it, and some more.
Result<void> check_room(const fs::path& folder, const fs::path& recording) {
  constexpr std::uintmax_t kTimes = 4, kOwn = 64 << 20;
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  if (failed) return {};  // writing will tell
  std::uintmax_t bytes = 0;
  for (fs::recursive_directory_iterator at(recording, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  }
  const std::uintmax_t wanted = bytes * kTimes + kOwn;
  if (space.available >= wanted) return {};
  return std::unexpected(
      Error{folder.string(), fmt::format("{} are free there, and a demo of these logs may take {}; "
                                         "TMPDIR names another place",
                                         serve::sized(space.available), serve::sized(wanted))});
}

}  // namespace

Play::Play(const DemoOptions& options, Display& display, Signals& signals)
    : options_(options), display_(display), signals_(signals) {}

Play::~Play() {
  static_cast<void>(clean_up());
}

Result<void> Play::clean_up() {
  if (crew_) crew_->end();
  feed_.reset();
  return folder_ ? folder_->remove() : Result<void>();
}

Step<void> Play::check() {
  if (const auto signal = signals_.come()) return std::unexpected(Stop{kBySignal + *signal, {}});
  if (display_.is_gone()) return std::unexpected(Stop{kReaderGone, {}});
  if (crew_)
    if (auto alive = crew_->check(); !alive) return cannot(alive.error());
  return {};
}

Step<Shown> Play::run() {
  for (const auto step : {&Play::prepare, &Play::load, &Play::start, &Play::wait_for_agents,
                          &Play::write_recording, &Play::tell_report, &Play::stay})
    if (auto done = (this->*step)(); !done) return std::unexpected(std::move(done.error()));
  return std::move(shown_);
}

Step<void> Play::prepare() {
  ::umask(S_IRWXG | S_IRWXO);  // all that it and its programs write is for the user alone
  const auto base = base_of_folders();
  if (!base) return cannot(base.error());
  for (const fs::path& left : remove_abandoned(*base))
    display_.say(serve::harmless(fmt::format("A demo that was killed had left {}; it is removed.",
                                             left.string())) +
                 "\n");
  auto folder = Folder::make(*base);
  if (!folder) return cannot(folder.error());
  folder_ = std::move(*folder);
  return {};
}

Step<void> Play::load() {
  replay::Options options;
  if (options_.logs.empty()) {
    const fs::path samples = find_samples_dir();
    if (samples.empty())
      return cannot({kSample,
                     "the sample was not found beside this program; give --logs DIR, or install it "
                     "(share/l4/samples)"});
    options.from = samples / kSample;
    options.arrivals = samples / (std::string(kSample) + ".arrivals.csv");
  } else {
    options.from = options_.logs;
  }
  recording_ = options.from;
  if (auto room = check_room(folder_->path(), recording_); !room) return cannot(room.error());
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(recording_, failed), name = whole.filename();
  if (std::ranges::mismatch(whole, fs::weakly_canonical(folder_->path(), failed)).in1 ==
      whole.end())
    return cannot({"--logs: " + recording_.string(),
                   "holds the folder for temporary files, in which it is to be written again; "
                   "TMPDIR names another place"},
                  terminal::kWrongUse);
  options.to = folder_->path() / (name.empty() ? fs::path("logs") : name);
  options.speed = options_.speed;
  auto replay = replay::Replay::load(options);
  if (!replay) return cannot(replay.error(), terminal::kWrongUse);
  replay_ = std::move(*replay);
  if (replay_->nodes().size() > kNodesMax)
    return cannot(
        {recording_.string(),
         fmt::format("holds logs of {} nodes; each takes an agent, and a demo takes at most "
                     "{}",
                     replay_->nodes().size(), kNodesMax)},
        terminal::kWrongUse);
  progress_.length = replay_->length();
  for (const std::string& node : replay_->nodes()) progress_.nodes.push_back({node, 0, {}});
  display_.say(opening({recording_, options_.logs.empty(), replay_->nodes().size(),
                        progress_.length, options_.speed},
                       display_.style()));
  return check();
}

Step<void> Play::start() {
  auto programs = find_programs();
  if (!programs) return cannot(programs.error());
  std::vector<Watched> watched;
  std::error_code failed;
  for (const std::string& node : replay_->nodes()) {
    watched.push_back({node, replay_->folder_of(node)});
    fs::create_directories(watched.back().logs, failed);
    if (failed) return cannot({watched.back().logs.string(), failed.message()});
  }
  // The name that `l4 diagnose` would give the job: an agent sees the files of one node alone.
  const auto found = discover::discover({recording_});
  if (!found) return cannot(found.error(), terminal::kWrongUse);
  auto site = Site::make(folder_->path(), found->job, std::move(watched));
  if (!site) return cannot(site.error());
  site_ = std::move(*site);
  crew_.emplace(std::move(*programs), *site_);
  const auto addresses =
      crew_->start_aggregator([&] { return !signals_.come() && !display_.is_gone(); });
  if (auto fine = check(); !fine) return fine;
  if (!addresses) return cannot(addresses.error());
  asked_ = {addresses->http, site_->token()};
  if (auto linked = site_->link(*addresses); !linked) return cannot(linked.error());
  if (auto all = crew_->start_agents(); !all) return cannot(all.error());
  feed_ = std::make_unique<Feed>(asked_);
  display_.say(started(site_->watched(), *addresses, folder_->path(), display_.style()));
  return check();
}

Step<void> Play::wait_for_agents() {
  const TimeMs until = wall_clock() + kConnectMost;
  while (connected_agents(asked_) < site_->watched().size()) {
    if (auto fine = check(); !fine) return fine;
    if (wall_clock() > until)
      return cannot(
          {"l4-agent", fmt::format("not all are connected after {}. The log of the first "
                                   "ends with:\n{}",
                                   to_human(kConnectMost), end_of_log(site_->agent_log(0)))});
    wait_until(wall_clock() + kLook);
  }
  return {};
}

void Play::wait_until(TimeMs time) const {
  std::array<pollfd, 2> waits{pollfd{signals_.descriptor(), POLLIN, 0},
                              pollfd{feed_ ? feed_->descriptor() : -1, POLLIN, 0}};
  const auto most = std::max(time - wall_clock(), Millis{0});
  ::poll(waits.data(), waits.size(), static_cast<int>(most.count()));
}

Step<void> Play::write_due(TimeMs now) {
  auto next = replay_->step(now, [&](const replay::Written& written) {
    const auto node = std::ranges::find(progress_.nodes, written.node, &Progress::Node::name);
    if (node == progress_.nodes.end()) return;
    node->lines += static_cast<std::uint64_t>(std::ranges::count(written.lines, '\n'));
    if (const auto newest = last_words(written.lines); !newest.empty()) node->newest = newest;
    recent_.add(now, written.node, written.lines);
  });
  if (!next) return cannot(next.error());
  next_due_ = *next;
  progress_.written = replay_->lines();
  progress_.is_over = !next_due_;
  progress_.elapsed = std::min(now - begun_, progress_.length);
  moved_at_ = now;
  return {};
}

Step<void> Play::write_recording() {
  begun_ = moved_at_ = told_at_ = wall_clock();
  if (auto begins = replay_->begin(begun_); !begins) return cannot(begins.error());
  for (TimeMs now = begun_;; now = wall_clock()) {
    if (!progress_.is_over)
      if (auto wrote = write_due(now); !wrote) return wrote;
    tell_alerts();
    ask_progress(now);
    tell_progress(now);
    if (auto fine = check(); !fine) return fine;
    if (is_settled(now) && !awaits_alert(now)) break;
    wait_until(std::min(next_due_.value_or(now + kLook), now + kLook));
  }
  display_.show("");
  if (!display_.is_live()) display_.say(progress_row(progress_, display_.style()) + "\n");
  return {};
}

bool Play::is_settled(TimeMs now) const {
  if (!progress_.is_over) return false;
  return now - moved_at_ > (progress_.taken >= progress_.written ? kCalm : kCalmIncomplete);
}

/// Where no line names the end of a process, an alert comes only after a while without progress.
bool Play::awaits_alert(TimeMs now) {
  if (shown_.alert || !progress_.job || now - moved_at_ > kAlertMost) return false;
  if (!is_awaited_) {
    const auto report = fetch_report(asked_, progress_.job->id);
    is_awaited_ = report && is_failure(report->verdict.state);
    if (*is_awaited_) display_.say(waiting(kAlertMost, display_.style()));
  }
  return *is_awaited_;
}

void Play::ask_progress(TimeMs now) {
  if (now - asked_at_ < kAskEvery) return;
  asked_at_ = now;
  auto taken = taken_lines(asked_);
  if (!taken) return;
  if (taken->lines != progress_.taken) moved_at_ = now;
  // The row of the job may be older than the alert that has been shown.
  if (!open_state_.empty() && taken->job && taken->job->state == name(State::healthy))
    taken->job->state = open_state_;
  progress_.taken = taken->lines;
  progress_.job = std::move(taken->job);
}

void Play::tell_progress(TimeMs now) {
  const bool live = display_.is_live();
  if (now - told_at_ < (live ? kDrawEvery : kRowEvery)) return;
  told_at_ = now;
  if (live)
    display_.show(progress_block(progress_, display_.style()));
  else if (!progress_.is_over)
    display_.say(progress_row(progress_, display_.style()));
}

void Play::tell_alerts() {
  for (const ask::ChangeRow& change : feed_->take()) {
    moved_at_ = wall_clock();
    const bool first = !shown_.alert && change.kind == "opened";
    open_state_ = change.kind == "resolved" ? std::string() : change.state;
    if (first) {
      shown_.alert = change;
      shown_.delays = delays_of(change);
    }
    display_.say(alert(change, first ? shown_.delays : std::vector<Delay>(), display_.style()));
  }
}

/// When a line of the printed time was written at the earliest. The last printed time is that at
/// which the last line is written; at another speed than 1 the others are further apart.
TimeMs Play::written_from(std::optional<TimeMs> printed) const {
  if (!printed) return begun_;
  const TimeMs end = begun_ + progress_.length;
  const std::chrono::duration<double, std::milli> before = end - (*printed - kPrintedRoughly);
  return end - std::chrono::duration_cast<Millis>(before / options_.speed);
}

/// From the first line that tells of the failure, and from what the recording knows of it.
std::vector<Delay> Play::delays_of(const ask::ChangeRow& alert) {
  std::vector<Delay> delays;
  if (const auto report = fetch_report(asked_, alert.job)) {
    std::vector<std::string> templates;
    for (const diagnose::IndicatingEvent& event : report->events) templates.push_back(event.text);
    if (const auto line = recent_.first(templates, written_from(report->verdict.since));
        line && line->at <= alert.at)
      delays.push_back(
          {alert.at - line->at,
           fmt::format("the first line that tells of it, on {}: {}", line->node, line->text)});
  }
  for (const replay::Fact& fact : replay_->facts())
    if (fact.at <= alert.at) delays.push_back({alert.at - fact.at, fact.text});
  return delays;
}

Step<void> Play::tell_report() {
  const std::string job = shown_.alert    ? shown_.alert->job
                          : progress_.job ? progress_.job->id
                                          : std::string();
  if (job.empty())
    return cannot({recording_.string(), "no agent has read a line that belongs to a job"});
  auto found = fetch_report(asked_, job);
  if (auto fine = check(); !fine) return fine;
  if (!found) return cannot(found.error().error);
  shown_.report = std::move(*found);
  const serve::TextStyle style = display_.style();
  if (!shown_.alert)
    display_.say(is_failure(shown_.report.verdict.state)
                     ? "No alert has come, though the report tells of a failure.\n\n"
                 : shown_.report.verdict.state == State::unknown
                     ? "No alert was sent: the lines do not tell how the job stands.\n\n"
                     : "No failure was found, so no alert was sent.\n\n");
  display_.say(report(shown_.report, style));
  display_.say(remarks(replay_->prints_times() ? std::optional(replay_->shift()) : std::nullopt,
                       replay_->unmoved(), style));
  Questions what;
  what.l4 = called_as();
  what.logs = options_.logs;
  what.speed = options_.speed;
  what.client_settings = site_->client_settings();
  what.page = asked_.address;
  what.token = site_->token_file();
  what.hiding = hiding_variables();
  what.job = job;
  if (shown_.alert) what.incident = shown_.alert->incident;
  for (const diagnose::SuspectRank& suspect : shown_.report.ranks)
    if (suspect.rank && !what.rank) what.rank = suspect.rank->value();
  if (!shown_.report.nodes.empty()) what.node = shown_.report.nodes.front().node;
  what.kept = options_.keep;
  display_.say(questions(what, style));
  return check();
}

Step<void> Play::stay() {
  while (options_.keep) {
    if (const auto signal = signals_.come(); signal && *signal == SIGINT) return {};
    if (auto fine = check(); !fine) return fine;
    wait_until(wall_clock() + kLook);
    static_cast<void>(feed_->take());
  }
  return {};
}

}  // namespace l4::commands::demo
