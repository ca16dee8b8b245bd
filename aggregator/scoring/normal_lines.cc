#include "aggregator/scoring/normal_lines.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "aggregator/faults/likeness.h"

namespace l4::scoring {
namespace {

/// The share of common words among all words of both texts.
double likeness(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  const std::size_t all = a.size() + b.size() - both.size();
  return all == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(all);
}

void keep_near(NormalLines& found, double alike, std::string text) {
  constexpr double kAlikeMin = 0.2;
  if (alike < kAlikeMin) return;
  found.near.emplace_back(alike, std::move(text));
  std::ranges::stable_sort(found.near, std::greater<>{}, &std::pair<double, std::string>::first);
  if (found.near.size() > NormalLines::kNearMax) found.near.pop_back();
}

/// In the failed job only events of level information that no report names are normal.
bool tells_of_failure(TemplateId id, Level level, const NormalQuestion& question) {
  return level == Level::unknown || level > Level::info ||
         std::ranges::find(question.told, id) != question.told.end();
}

void take(std::string text, const std::string& where, const NormalQuestion& question,
          NormalLines& found) {
  ++found.templates;
  if (question.fault->match(text).empty()) {
    const double alike = likeness(question.words, faults::words_of(text));
    keep_near(found, alike, std::move(text));
    return;
  }
  ++found.matching;
  if (found.lines.size() < NormalLines::kLinesMax) found.lines.push_back({where, std::move(text)});
}

}  // namespace

void NormalLines::add(NormalLines other) {
  jobs += other.jobs;
  runs += other.runs;
  templates += other.templates;
  matching += other.matching;
  complete = complete && other.complete;
  for (SeenLine& line : other.lines)
    if (lines.size() < kLinesMax) lines.push_back(std::move(line));
  for (auto& [alike, text] : other.near) keep_near(*this, alike, std::move(text));
}

void scan(const LiveJob& job, bool is_suspect, const NormalQuestion& question, NormalLines& found) {
  const bool failed = job.id() == question.job;
  const bool well = job.report() && !is_suspect && !job.incidents().has_any() &&
                    (job.report()->verdict.state == State::healthy ||
                     job.report()->verdict.state == State::finished);
  if (!failed && !well) return;
  job::TemplateTable& templates = job.state().templates();
  ++found.jobs;
  for (const TemplateId id : templates.all()) {
    if (failed && tells_of_failure(id, templates.level(id), question)) continue;
    if (found.templates >= question.templates_max) {
      found.complete = false;
      return;
    }
    take(templates.text(id), "job " + job.id(), question, found);
  }
}

NormalLines scan(const std::vector<pool::PoolBook::Row>& runs, const NormalQuestion& question) {
  NormalLines found;
  std::unordered_set<std::string_view> seen;  // the same event stands in most runs of a kind
  for (const pool::PoolBook::Row& row : runs) {
    const pool::Run& run = *row.run;
    const bool failed = run.job == question.job;
    ++found.runs;
    if (run.left_out > 0) found.complete = false;
    for (const pool::Event& event : run.events) {
      if (failed && tells_of_failure(event.id, event.level, question)) continue;
      if (!seen.insert(event.text).second) continue;
      if (found.templates >= question.templates_max) {
        found.complete = false;
        return found;
      }
      take(event.text, "run " + run.id + " of the pool", question, found);
    }
  }
  return found;
}

}  // namespace l4::scoring
