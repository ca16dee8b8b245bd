#include "aggregator/serve/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/suspects.h"

namespace l4::serve {
namespace {

using diagnose::Report;

bool is_good(State state) {
  return state == State::healthy || state == State::finished;
}

Tone tone_of(State state) {
  if (is_good(state)) return Tone::good;
  return state == State::slow || state == State::unknown ? Tone::uneasy : Tone::bad;
}

/// CRASHED · llama · attempt 2 · one rank · almost certain (97 %), and the one sentence.
void render_head(Page& page, const Report& report) {
  const auto& verdict = report.verdict;
  std::string rest;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) rest += " · " + fact;
  };
  const std::size_t id_cells_max = 40;
  add(shortened(report.job.id, id_cells_max));
  if (report.job.attempt > 0 || report.job.attempts.size() > 1)
    add(fmt::format("attempt {}", report.job.attempt));
  if (!is_good(verdict.state)) add(std::string(spoken(verdict.scope)));
  if (verdict.state != State::unknown)
    add(fmt::format("{} ({})", certainty(verdict.confidence), percent(verdict.confidence)));
  page.title({{std::string(headline(verdict.state)), tone_of(verdict.state)}, {rest}});
  page.title_prose(verdict.summary, 3);
  if (report.advice) page.title_prose(*report.advice, 2);
}

void render_when(Page& page, const Report& report) {
  const auto& verdict = report.verdict;
  std::vector<std::string> facts;
  if (verdict.since) facts.push_back(time_text(*verdict.since, {}));
  if (verdict.stage != Stage::unknown) facts.push_back(spoken(name(verdict.stage)));
  if (verdict.iteration)
    facts.push_back(fmt::format("iteration {}{}", verdict.iteration->value(),
                                is_good(verdict.state) ? " completed" : ""));
  if (facts.empty()) return;
  const auto before_end = between(verdict.since, report.job.end);
  if (before_end && before_end->count() > 0 && !is_good(verdict.state))
    facts.push_back(to_human(*before_end) + " before the logs end");
  page.gap();
  page.label(verdict.state == State::healthy    ? "now"
             : verdict.state == State::finished ? "last"
             : verdict.since                    ? "since"
                                                : "where");
  page.facts(facts, 0, Tone::strong);
}

void render_attempts(Page& page, const Report& report) {
  const auto& attempts = report.job.attempts;
  if (attempts.size() < 2) return;
  constexpr std::size_t kShown = 4;
  std::string line = attempts.size() > kShown ? "… → " : "";
  for (std::size_t i = attempts.size() - std::min(kShown, attempts.size()); i < attempts.size();
       ++i) {
    const auto& attempt = attempts[i];
    line += fmt::format("{} {}", attempt.attempt, spoken(name(attempt.state)));
    if (attempt.iteration) line += fmt::format(" at {}", attempt.iteration->value());
    if (i + 1 < attempts.size()) line += " → ";
  }
  page.label("attempts");
  page.row(line);
}

/// What differs and harms nothing.
void render_notable(Page& page, const Report& report, std::size_t top) {
  if (report.notable.empty()) return;
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min({kShown, top, report.notable.size()});
  page.gap();
  page.label("notable");
  for (std::size_t i = 0; i < shown; ++i) page.prose("", report.notable[i].text, 2, 0);
  if (report.notable.size() > shown)
    page.facts({fmt::format("and {} more", grouped(report.notable.size() - shown))});
}

void render_faults(Page& page, const Report& report) {
  if (report.faults.empty() && report.events.empty()) return;
  page.gap();
  page.label("fault");
  if (report.faults.empty()) return page.row("no known fault matches these events");
  const auto& fault = report.faults.front();
  page.row({{fault.title, Tone::strong},
            {fmt::format(" · {} · {} ({})", fault.category, certainty(fault.confidence),
                         percent(fault.confidence))}});
  page.prose("cause  ", fault.cause, 3, 2);
  page.prose("do     ", fault.fix, 5, 2);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < report.faults.size(); ++i)
    others.push_back(fmt::format("{}{} ({})", i == 1 ? "or " : "", report.faults[i].title,
                                 percent(report.faults[i].confidence)));
  page.facts(others, 0, Tone::plain);
}

/// The stages in their order and the iterations with the highest scores.
void render_course(Page& page, const Report& report) {
  std::vector<std::string> stages;
  auto spans = report.stages;
  const auto begun = [](const auto& span) { return span.begin.has_value(); };
  if (std::ranges::all_of(spans, begun))
    std::ranges::sort(spans, {}, [](const auto& s) { return std::pair(*s.begin, s.stage); });
  std::string course;
  for (const auto& span : spans) {
    if (span.stage == Stage::unknown) continue;
    course += (course.empty() ? "" : " → ") + spoken(name(span.stage));
    if (const auto length = between(span.begin, span.end)) course += " " + brief(*length);
    if (span.ranks > 0 && span.ranks != report.job.ranks)
      course += fmt::format(" ({})", counted(span.ranks, "rank"));
  }
  std::vector<std::string> odd;
  for (const auto& iteration : report.iterations) {
    if (odd.size() == 5) break;
    odd.push_back(fmt::format("{} (score {:.1f}{})", iteration.iteration.value(), iteration.score,
                              iteration.nodes.size() == 1 ? ", " + iteration.nodes[0] : ""));
  }
  const bool has_course = report.stages.size() > 1 && !course.empty();
  if (!has_course && odd.empty()) return;
  page.gap();
  if (has_course) {
    page.label("course");
    page.row(course);
  }
  page.label("odd");
  if (!odd.empty()) odd.front() = "iterations " + odd.front();
  page.facts(odd, 0, Tone::plain);
}

bool is_complete(const Report& report) {
  return !(report.job.completeness < 0.99995) || report.job.completeness <= 0;
}

std::string incomplete_text(const Report& report) {
  const double share = report.job.completeness;
  const double missing = static_cast<double>(report.job.bytes) * (1 / share - 1);
  return fmt::format("incomplete: {:.{}f} % of the bytes, {} are missing", share * 100,
                     share > 0.99 ? 2 : 0,
                     sized(static_cast<std::uint64_t>(std::min(missing, 1e18))));
}

/// Whether a line without a time was dated behind the last time that a line prints.
bool has_later_times(const Report& report) {
  const auto is_later = [&](const std::optional<TimeMs>& time) {
    return time && report.job.end && *time > *report.job.end;
  };
  return is_later(report.verdict.since) ||
         std::ranges::any_of(report.events,
                             [&](const auto& event) { return is_later(event.first.time); });
}

void render_input(Page& page, const Report& report) {
  const auto& job = report.job;
  page.gap();
  page.label("read");
  if (job.lines == 0) {
    page.row(job.sources == 0 ? "nothing: no log was found"
                              : "no line from " + counted(job.sources, "source"));
  } else {
    page.facts({counted(job.lines, "line"), sized(job.bytes), counted(job.sources, "source"),
                counted(job.nodes, "node"), counted(job.ranks, "rank"),
                is_complete(report) ? "complete" : ""},
               0, Tone::plain);
  }
  if (const auto length = between(job.begin, job.end))
    page.row(fmt::format("{} to {} ({})", to_rfc3339(*job.begin), time_text(*job.end, job.begin),
                         to_human(*length)));
  if (has_later_times(report))
    page.row("later times here are those at which a line was read, or its file written last");
  if (job.lines > 0 && !is_complete(report)) page.row({{incomplete_text(report), Tone::uneasy}});
  if (report.pool.used) {
    page.label("filtered");
    page.row(fmt::format("{} known as normal from {}", counted(report.pool.events_dropped, "event"),
                         counted(report.pool.jobs, "healthy run")));
  }
}

void render_warnings(Page& page, const Report& report, std::size_t top) {
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min({kShown, top, report.warnings.size()});
  page.label("warnings");
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& warning = report.warnings[i];
    std::string text = warning.kind;
    if (!warning.file.empty()) text += " · " + warning.file;
    if (warning.bytes > 0) text += " · " + sized(warning.bytes);
    if (!warning.reason.empty()) text += " · " + warning.reason;
    page.row({{std::move(text), Tone::uneasy}});
  }
  if (report.warnings.size() == shown) return;
  std::map<std::string_view, std::uint64_t> kinds;
  for (std::size_t i = shown; i < report.warnings.size(); ++i) ++kinds[report.warnings[i].kind];
  std::vector<std::string> rest{"and " + grouped(report.warnings.size() - shown) + " more"};
  for (const auto& [kind, count] : kinds) rest.push_back(fmt::format("{} {}", count, kind));
  page.facts(rest);
}

/// Where few lines could be understood: what a reader should know of all that is said here.
void render_understood(Page& page, const Report& report) {
  constexpr double kLow = 0.5;
  const auto& all = report.read.understood;
  std::vector<std::string> low;
  const auto add = [&](const std::optional<double>& share, std::string_view what) {
    if (!share || *share >= kLow) return;
    low.push_back(*share > 0 ? fmt::format("{} of the lines have {}", percent(*share), what)
                             : fmt::format("no line has {}", what));
  };
  add(all.timed, "a time");
  add(all.ranked, "a rank");
  if (!report.verdict.iteration) add(all.iterated, "an iteration");
  if (low.empty()) return;
  page.label("unclear");
  page.facts(low, 0, Tone::uneasy);
}

/// "node-1 62 %, node-2 20 %, another 18 %": what may be so, most likely first.
std::string shares_text(const diagnose::Certainty& certainty) {
  constexpr std::size_t kShown = 4;
  constexpr double kWorthSaying = 0.005;
  std::string text;
  std::size_t shown = 0;
  for (const diagnose::ClaimShare& one : certainty.alternatives) {
    if (one.share < kWorthSaying || shown++ == kShown) continue;
    std::string name = one.name ? shortened(*one.name, 28) : "something else";
    if (certainty.of == diagnose::clues::Claim::state) name = spoken(name);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent(one.share));
  }
  return text;
}

/// What a claim that is not sure may be instead, and what would decide.
std::string doubt_text(const diagnose::Certainty& certainty) {
  std::string by;
  for (const std::string& one : certainty.decided_by) by += (by.empty() ? "" : "; ") + one;
  switch (certainty.of) {
    case diagnose::clues::Claim::state:
      return fmt::format("the state: {}. To decide: {}", shares_text(certainty), by);
    case diagnose::clues::Claim::node:
      return fmt::format("which node: {}. To decide: {}", shares_text(certainty), by);
    default:
      return fmt::format("whether the first event is the root: {}. To decide: {}",
                         percent(certainty.confidence), by);
  }
}

/// The limits of this report: what it could not read or compare.
void render_unknown(Page& page, const Report& report) {
  const auto& verdict = report.verdict;
  const bool good = is_good(verdict.state);
  std::vector<std::string> missing;
  if (report.certainty.empty() && verdict.confidence < 0.6 && verdict.state != State::unknown)
    missing.push_back(fmt::format("whether it is really {}: {} is little more than a guess",
                                  spoken(name(verdict.state)), percent(verdict.confidence)));
  if (!good && !verdict.since)
    missing.push_back(report.job.begin ? "when it began"
                                       : "when it began: the lines carry no times");
  if (!good && verdict.stage == Stage::unknown) missing.push_back("the stage it was in");
  if (!good && !verdict.iteration && !is_startup(verdict.stage) &&
      verdict.state != State::launch_failed)
    missing.push_back("the iteration: no line names one");
  if (!report.pool.used)
    missing.push_back("what is normal here; nothing was filtered: no healthy run was given");
  page.label("not known");
  for (const diagnose::Certainty& certainty : report.certainty)
    if (!certainty.decided_by.empty()) page.prose("", doubt_text(certainty), 3, 0);
  for (const std::string& line : missing) page.row({{line, Tone::dim}});
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  Page page(style);
  const bool good = is_good(report.verdict.state);
  render_head(page, report);
  render_when(page, report);
  render_attempts(page, report);
  const bool something_read = report.job.lines > 0 || !report.nodes.empty();
  if (!good && something_read) {
    render_suspects(page, report, style.top);
    render_events(page, report, style.top);
    render_notable(page, report, style.top);
    render_faults(page, report);
    render_course(page, report);
  } else {
    render_notable(page, report, style.top);
    if (!report.faults.empty()) render_faults(page, report);
  }
  render_input(page, report);
  if (something_read) render_understood(page, report);
  render_warnings(page, report, style.top);
  if (something_read) render_unknown(page, report);
  return page.release();
}

}  // namespace l4::serve
