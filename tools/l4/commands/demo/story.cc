#include "tools/l4/commands/demo/story.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"
#include "common/base/vocabulary.h"
#include "tools/l4/commands/demo/command.h"

namespace l4::commands::demo {
namespace {

using serve::Page;
using serve::Tone;

constexpr std::size_t kAllLines = 20;  ///< more than any text here takes
constexpr std::size_t kIndent = 12;    ///< of a command below its label

std::string whole_seconds(Millis span) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(span);
  if (seconds >= std::chrono::minutes{2}) return to_human(seconds);
  return seconds.count() == 0 ? "less than 1 s" : fmt::format("{} s", seconds.count());
}

/// A speed at which a long recording takes about a minute; empty if it is short.
std::string faster(const Recording& recording) {
  constexpr Millis kLong{180'000}, kAbout{60'000};
  if (recording.length <= kLong || recording.speed >= kFastest) return {};
  const double exact = recording.speed * static_cast<double>(recording.length / kAbout);
  const double step = std::pow(10, std::floor(std::log10(exact)));
  const double speed = std::min(std::ceil(exact / step) * step, kFastest);
  return fmt::format(" (--speed {:g}: {})", speed,
                     whole_seconds(std::chrono::duration_cast<Millis>(recording.length *
                                                                      recording.speed / speed)));
}

std::string counts_of(const Progress& progress) {
  return fmt::format("{}, {} read", serve::counted(progress.written, "line"),
                     serve::grouped(progress.taken));
}

/// "job-1005 healthy · iteration 41 · 8 ranks"; empty while the aggregator knows no job.
std::string standing_of(const Progress& progress) {
  if (!progress.job) return {};
  const ask::JobRow& job = *progress.job;
  std::string text = job.id;
  if (job.state != name(State::unknown)) text += " " + serve::spoken(job.state);
  if (job.iteration) text += fmt::format(" · iteration {}", *job.iteration);
  if (job.ranks > 0) text += " · " + serve::counted(job.ranks, "rank");
  return text;
}

std::string age_of(const Progress& progress) {
  if (progress.is_over) return "all written";
  return fmt::format("{} of {}", whole_seconds(progress.elapsed), whole_seconds(progress.length));
}

std::string place_of(const ask::ChangeRow& change) {
  if (change.first_node.empty()) return "no node stands out";
  return "first " + change.first_node +
         (change.first_rank ? fmt::format(", rank {}", *change.first_rank) : "");
}

}  // namespace

std::string opening(const Recording& recording, const serve::TextStyle& style) {
  Page page(style);
  page.title({{"l4 demo", Tone::strong},
              {recording.is_sample ? " · a job breaks while L4 watches it"
                                   : " · a recorded job runs again while L4 watches it",
               Tone::dim}});
  page.gap();
  const std::string what =
      recording.is_sample
          ? fmt::format(
                "The logs of a real training job on {} nodes ({}) are written again, line by "
                "line",
                recording.nodes, recording.folder.string())
          : fmt::format("The logs in {} are written again, line by line",
                        recording.folder.string());
  const std::string pace = recording.speed == 1
                               ? "with the timing that they had"
                               : fmt::format("{:g} times as fast as they were", recording.speed);
  page.title_prose(
      fmt::format(
          "{}, {}, as if it were now: {}{}. An agent on each node reads them as they grow, and "
          "one aggregator finds out by itself what is wrong. {}",
          what, pace, whole_seconds(recording.length), faster(recording),
          recording.is_sample ? "One process of the job will be killed from outside; nobody "
                                "tells L4."
                              : ""),
      kAllLines);
  page.gap();
  return page.release();
}

std::string started(const std::vector<Watched>& watched, const Addresses& addresses,
                    const std::filesystem::path& folder, const serve::TextStyle& style) {
  Page page(style);
  page.label("started");
  page.prose("l4-aggregator  ",
             fmt::format("{} for agents, {} for questions", addresses.wire, addresses.http),
             kAllLines, 0);
  constexpr std::size_t kNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, watched.size()); ++i)
    names += (i == 0 ? "" : ", ") + watched[i].node;
  if (watched.size() > kNamed) names += fmt::format(" and {} more", watched.size() - kNamed);
  page.prose("l4-agent       ", fmt::format("{} of them: {}", watched.size(), names), kAllLines, 0);
  page.prose("in             ", folder.string() + ", which nobody else can read", kAllLines, 0);
  page.gap();
  return page.release();
}

std::string progress_block(const Progress& progress, const serve::TextStyle& style) {
  constexpr std::size_t kShown = 12;
  Page page(style);
  page.label("running");
  page.row({{age_of(progress), Tone::strong}, {" · " + counts_of(progress)}});
  if (const std::string standing = standing_of(progress); !standing.empty())
    page.row({{standing, progress.job->state == "healthy" ? Tone::good : Tone::plain}});
  std::size_t width = 0;
  for (const Progress::Node& node : progress.nodes)
    width = std::max(width, serve::cells(node.name));
  width = std::min(width, style.width / 4);
  for (std::size_t i = 0; i < std::min(kShown, progress.nodes.size()); ++i) {
    const Progress::Node& node = progress.nodes[i];
    const std::string name = serve::cut(node.name, width);
    page.row({{name + std::string(width - std::min(width, serve::cells(name)), ' ')},
              {fmt::format(" {:>6}  ", node.lines), Tone::strong},
              {node.newest, Tone::dim}});
  }
  if (progress.nodes.size() > kShown)
    page.row(fmt::format("and {} more", progress.nodes.size() - kShown));
  return page.release();
}

std::string progress_row(const Progress& progress, const serve::TextStyle& style) {
  Page page(style);
  page.label("running");
  const std::string standing = standing_of(progress);
  page.row(fmt::format("{} · {}{}", age_of(progress), counts_of(progress),
                       standing.empty() ? "" : " · " + standing));
  return page.release();
}

std::string alert(const ask::ChangeRow& change, const std::vector<Delay>& delays,
                  const serve::TextStyle& style) {
  Page page(style);
  const bool resolved = change.kind == "resolved";
  const std::string_view word = resolved                  ? "RESOLVED"
                                : change.kind == "opened" ? "ALERT"
                                                          : "CHANGED";
  page.title({{fmt::format("{:<10}", word), resolved ? Tone::good : Tone::bad},
              {fmt::format("{} UTC · {} {} · {}", to_rfc3339(change.at).substr(11, 12), change.job,
                           serve::spoken(change.state), place_of(change)),
               Tone::strong}});
  page.prose("", change.summary, kAllLines, 0);
  for (const Delay& delay : delays)
    page.row({{fmt::format("{} after ", to_human(delay.span)), Tone::strong}, {delay.since}});
  page.gap();
  return page.release();
}

std::string report(const diagnose::Report& report, const serve::TextStyle& style) {
  Page page(style);
  page.title({{"The report", Tone::strong},
              {fmt::format(", as 'l4 snapshot {}' prints it now:", report.job.id), Tone::dim}});
  page.gap();
  return page.release() + serve::to_text(report, style) + "\n";
}

std::string waiting(Millis most, const serve::TextStyle& style) {
  Page page(style);
  page.label("waiting");
  page.prose("",
             fmt::format("All lines are written. Whether the job has failed shows when nothing "
                         "follows: up to {}.",
                         whole_seconds(most)),
             kAllLines, 0);
  page.gap();
  return page.release();
}

std::string remarks(std::optional<Millis> shift, const std::vector<std::string>& unmoved,
                    const serve::TextStyle& style) {
  Page page(style);
  page.label("not here");
  page.prose(
      "",
      "The processes of a recording do not exist, so agents looked at lines alone. At a real "
      "site they also watch the processes behind the logs and the kernel's messages: then a "
      "process that is killed is known at once, with its signal, and one that is stopped or "
      "waits for a device even if no line says so.",
      kAllLines, 0);
  if (shift || !unmoved.empty()) page.label("times");
  if (shift)
    page.prose("", fmt::format("All printed times were moved by {}, to now.", to_human(*shift)),
               kAllLines, 0);
  for (const std::string& sentence : unmoved) page.prose("", sentence, kAllLines, 0);
  page.gap();
  return page.release();
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string questions(const Questions& what, const serve::TextStyle& style) {
  Page page(style);
  const std::string l4 = shell_word(what.l4);
  page.label("ask it");
  if (what.kept)
    page.prose("", "It goes on running, and answers in another terminal. Ctrl-C here ends it.", 2,
               0);
  else
    page.row("With --keep it stays, and answers in another terminal:");
  std::string text = page.release();
  // Never cut, however narrow the page is: they are to be pasted.
  const auto command = [&](const std::string& words) {
    text += std::string(kIndent, ' ') + serve::harmless(words) + '\n';
  };
  if (what.kept) {
    for (const std::string& name : what.hiding) command("unset " + name);
    command("export L4_CLIENT=" + shell_word(what.client_settings.string()));
  }
  if (!what.kept) {
    const std::string logs = what.logs.empty() ? "" : " --logs " + shell_word(what.logs.string());
    const std::string speed = what.speed == 1 ? "" : fmt::format(" --speed {:g}", what.speed);
    command(l4 + " demo" + logs + speed + " --keep");
  }
  command(l4 + " jobs");
  if (!what.job.empty()) {
    const std::string job = shell_word(what.job);
    command(fmt::format("{} watch {}", l4, job));
    if (what.rank) command(fmt::format("{} lines {} --rank {}", l4, job, *what.rank));
    if (!what.node.empty())
      command(fmt::format("{} lines {} --node {}", l4, job, shell_word(what.node)));
  }
  if (!what.incident.empty())
    command(fmt::format("{} incidents {}", l4, shell_word(what.incident)));
  command(l4 + " agents");
  if (what.kept && !what.page.empty()) {
    page.label("browser");
    page.prose("", fmt::format("Open {}/ and sign in with the token in this file:", what.page), 2,
               0);
    text += page.release();
    command(what.token.string());
  }
  return text + '\n';
}

}  // namespace l4::commands::demo
