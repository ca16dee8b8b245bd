#include "tests/scenarios/play.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "aggregator/faults/library.h"
#include "offline/offline.h"

namespace l4::scenario {
namespace {

using diagnose::Diagnosis;

struct Line {
  TimeMs time;
  std::string bytes;
};
struct Key {
  int attempt = 0;
  Speaker speaker = 0;
  bool errors = false;  ///< stderr, where the layout has one
  auto operator<=>(const Key&) const = default;
};

std::string stamp(TimeMs time) {
  std::string text = to_rfc3339(time);
  text[10] = ' ';
  text.pop_back();
  text[19] = ',';
  return text + ' ';
}

std::string_view word(Level level) {
  switch (level) {
    case Level::fatal:
      return "CRITICAL";
    case Level::error:
      return "ERROR";
    case Level::warning:
      return "WARNING";
    case Level::debug:
      return "DEBUG";
    default:
      return "INFO";
  }
}

void replace(std::string& text, std::string_view what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// Turns the steps of one run into lines per file.
class Writer {
 public:
  Writer(const Scenario& scenario, const Run& run)
      : head_(scenario.head), random_(scenario.head.seed) {
    for (const Step& step : run)
      if (step.verb == Verb::stops)
        for (const Speaker speaker : step.who)
          stopped_[{step.attempt, speaker, false}] = start_time() + step.from;
    struct Moment {
      Millis at;
      const Step* step;
      int times;
    };
    std::vector<Moment> moments;
    for (const Step& step : run) {
      if (step.verb == Verb::stops) continue;
      int times = 0;
      for (Millis at = step.from; at <= step.to; at += step.each) {
        moments.push_back({at, &step, ++times});
        if (step.each <= Millis{0}) break;
      }
    }
    std::ranges::stable_sort(moments, {}, &Moment::at);
    for (const Moment& moment : moments) play(*moment.step, moment.at, moment.times);
  }

  void write(const std::filesystem::path& folder);

 private:
  void play(const Step& step, Millis at, int times);
  void iterate(const Step& step, Speaker rank, TimeMs at, Millis each);
  void say(const Step& step, Speaker speaker, TimeMs at, int times);
  void add(const Step& step, Speaker speaker, TimeMs at, bool errors, const std::string& bytes);
  std::string iteration_line(const Step& step, int rank, std::int64_t k, Millis each);
  std::filesystem::path file_of(const Key& key) const;
  std::string node_of(Speaker speaker) const {
    return fmt::format("node-{}", speaker < 0 ? -1 - speaker : speaker / head_.ranks);
  }
  double noise(double spread) { return std::uniform_real_distribution(-spread, spread)(random_); }

  const Head& head_;
  std::mt19937_64 random_;
  std::map<Key, std::vector<Line>> lines_;
  std::map<Key, TimeMs> stopped_;
  std::map<std::pair<int, Speaker>, std::int64_t> iterations_;  // by attempt and rank
};

void Writer::play(const Step& step, Millis at, int times) {
  const bool steady = step.verb == Verb::iterates;
  const auto scatter = static_cast<double>(step.each.count()) * (steady ? 0.03 : 0);
  const auto shift = Millis{static_cast<std::int64_t>(noise(scatter))};
  for (const Speaker speaker : step.who) {
    const TimeMs time = start_time() + at + std::max(shift, -at) + Millis{random_() % 6};
    if (steady)
      iterate(step, speaker, time, step.each.count() > 0 ? step.each : head_.pace);
    else
      say(step, speaker, time, times);
  }
}

std::string Writer::iteration_line(const Step& step, int rank, std::int64_t k, Millis each) {
  const auto pace = static_cast<double>(head_.pace.count());
  const double forward = step.forward ? static_cast<double>(step.forward->count()) : 0.3 * pace;
  const double own = forward * (1 + noise(0.03));
  const double backward = 0.4 * pace * (1 + noise(0.03));
  const double wait = std::max(5.0, static_cast<double>(each.count()) - own - backward - 3);
  switch (head_.style) {
    case Style::plain:
      return fmt::format(
          "[rank {}] step={} data_ms=0.2 fwd_ms={:.1f} bwd_ms={:.1f} allreduce_ms={:.1f} "
          "opt_ms=1.5 gnorm={:.4f}",
          rank, k, own, backward, wait, 0.2 + noise(0.05));
    case Style::own:
      return fmt::format("[rank {}] finished round {} with a score of {:.3f}", rank, k,
                         2 + noise(0.5));
    case Style::last_rank:
      return fmt::format(
          " iteration {:8} /   10000 | consumed samples: {:12} | elapsed time per iteration (ms): "
          "{}.0 | learning rate: 1.5E-03 | global batch size:    32 | lm loss: {:.6f}E+00 |",
          k, k * 32, each.count(), 5 + noise(0.5));
    default:
      return fmt::format(
          "[rank {}] iteration {} | batch-generator: {:.2f} | forward-compute: {:.2f} | "
          "backward-compute: {:.2f} | grads-all-reduce: {:.2f} | optimizer: 1.55 | local grad "
          "norm: {:.3f}",
          rank, k, 0.2 + noise(0.05), own, backward, wait, 0.6 + noise(0.1));
  }
}

void Writer::iterate(const Step& step, Speaker rank, TimeMs at, Millis each) {
  auto [found, first] = iterations_.try_emplace({step.attempt, rank}, step.first_iteration - 1);
  const std::int64_t k = ++found->second;
  if (head_.style == Style::last_rank && rank != head_.all_ranks() - 1) return;
  const std::string time = head_.times == Times::all ? stamp(at) : "";
  add(step, rank, at, false, time + iteration_line(step, rank, k, each) + '\n');
}

void Writer::say(const Step& step, Speaker speaker, TimeMs at, int times) {
  std::string text = step.text;
  const auto known = iterations_.find({step.attempt, speaker});
  replace(text, "{k}", std::to_string(known == iterations_.end() ? 0 : known->second));
  replace(text, "{rank}", std::to_string(speaker));
  replace(text, "{node}", node_of(speaker));
  replace(text, "{n}", std::to_string(times));
  replace(text, "{x}", std::to_string(100 + random_() % 900));
  if (step.verb == Verb::raises)
    text = fmt::format(
        "Traceback (most recent call last):\n"
        "  File \"/opt/train/train.py\", line 310, in <module>\n    main()\n"
        "  File \"/opt/train/train.py\", line 122, in main\n    loss = step(batch)\n{}",
        text);
  const bool timed = step.verb == Verb::says && head_.times != Times::none;
  if (step.verb == Verb::says) text = fmt::format("{} {}", word(step.level), text);
  const bool errors = step.verb != Verb::says || step.level >= Level::warning;
  add(step, speaker, at, errors, (timed ? stamp(at) : "") + text + '\n');
}

void Writer::add(const Step& step, Speaker speaker, TimeMs at, bool errors,
                 const std::string& bytes) {
  const auto stopped = stopped_.find({step.attempt, speaker, false});
  if (stopped != stopped_.end() && at >= stopped->second) return;
  errors = errors && head_.layout == Layout::torchrun && speaker >= 0;
  const int attempt = head_.layout == Layout::torchrun && speaker >= 0 ? step.attempt : 0;
  lines_[{attempt, speaker, errors}].push_back({at, bytes});
}

std::filesystem::path Writer::file_of(const Key& key) const {
  const std::filesystem::path node = node_of(key.speaker);
  if (key.speaker < 0) return node / "agent.log";
  if (head_.layout == Layout::files) return node / fmt::format("rank{}.log", key.speaker);
  return node / "job-7_x2dfdlx4" / fmt::format("attempt_{}", key.attempt) /
         std::to_string(key.speaker % head_.ranks) / (key.errors ? "stderr.log" : "stdout.log");
}

void set_mtime(const std::filesystem::path& file, TimeMs time) {
  const auto ms = time.time_since_epoch().count();
  const timespec when{ms / 1000, ms % 1000 * 1'000'000};
  const timespec both[2]{when, when};
  utimensat(AT_FDCWD, file.c_str(), both, 0);
}

void Writer::write(const std::filesystem::path& folder) {
  constexpr std::chrono::hours kCopied{72};
  for (auto& [key, lines] : lines_) {
    std::ranges::stable_sort(lines, {}, &Line::time);
    const auto file = folder / file_of(key);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    for (const Line& line : lines) out << line.bytes;
    out.close();
    set_mtime(file, head_.real_mtimes ? lines.back().time : start_time() + kCopied);
  }
}

template <class T>
const T& loaded(const char* folder) {
  static const T value = [folder] {
    auto read = T::load(folder);
    if (!read) throw std::runtime_error(read.error().text());
    return std::move(*read);
  }();
  return value;
}

Result<offline::Job> read(const std::filesystem::path& folder, job::TemplateTable& templates,
                          std::uint32_t job_index) {
  const auto& packs = loaded<segment::RulePackSet>(L4_SOURCE_DIR "/config/frameworks");
  offline::Options options;
  options.job_index = job_index;
  offline::Progress progress;
  return offline::read_job({folder}, packs, templates, options, progress);
}

}  // namespace

void write_logs(const Scenario& scenario, const Run& run, const std::filesystem::path& folder) {
  Writer(scenario, run).write(folder);
}

Result<Diagnosis> play(const Scenario& scenario, const std::filesystem::path& folder) {
  job::TemplateTable templates;
  write_logs(scenario, scenario.job, folder / "job");
  auto job = read(folder / "job", templates, 0);
  if (!job) return std::unexpected(job.error());
  std::vector<offline::Job> runs;
  std::vector<const job::JobState*> healthy;
  for (const Run& run : scenario.history) {
    const auto at = folder / fmt::format("history-{}", runs.size());
    write_logs(scenario, run, at);
    auto read_run = read(at, templates, static_cast<std::uint32_t>(runs.size() + 1));
    if (!read_run) return std::unexpected(read_run.error());
    runs.push_back(std::move(*read_run));
    healthy.push_back(runs.back().state.get());
  }
  diagnose::Options options;
  if (scenario.as_of) options.as_of = start_time() + *scenario.as_of;
  options.mtimes_equal = job->mtimes_equal;
  options.library = &loaded<faults::Library>(L4_SOURCE_DIR "/config/faults");
  return diagnose::diagnose(*job->state, healthy, options);
}

}  // namespace l4::scenario
