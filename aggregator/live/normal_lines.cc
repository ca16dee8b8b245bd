#include "aggregator/live/normal_lines.h"

#include <algorithm>

#include "aggregator/faults/likeness.h"

namespace l4::live {
namespace {

/// Words in common, of all words of both.
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

}  // namespace

void NormalLines::add(NormalLines other) {
  jobs += other.jobs;
  templates += other.templates;
  matching += other.matching;
  for (SeenLine& line : other.lines)
    if (lines.size() < kLinesMax) lines.push_back(std::move(line));
  for (auto& [alike, text] : other.near) keep_near(*this, alike, std::move(text));
}

void look(const LiveJob& job, bool is_suspect, const NormalQuestion& question, NormalLines& found) {
  const bool failed = job.id() == question.job;
  const bool well = job.report() && !is_suspect && !job.incidents().has_any() &&
                    (job.report()->verdict.state == State::healthy ||
                     job.report()->verdict.state == State::finished);
  if (!failed && !well) return;
  job::TemplateTable& templates = job.state().templates();
  ++found.jobs;
  for (const TemplateId id : templates.all()) {
    if (found.templates >= NormalLines::kTemplatesMax) return;
    const Level level = templates.level(id);
    if (failed && (level == Level::unknown || level > Level::info ||
                   std::ranges::find(question.told, id) != question.told.end()))
      continue;
    ++found.templates;
    std::string text = templates.text(id);
    if (question.fault->match(text).empty()) {
      const double alike = likeness(question.words, faults::words_of(text));
      keep_near(found, alike, std::move(text));
      continue;
    }
    ++found.matching;
    if (found.lines.size() < NormalLines::kLinesMax)
      found.lines.push_back({"job " + job.id(), std::move(text)});
  }
}

}  // namespace l4::live
