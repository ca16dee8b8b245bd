#include "tools/l4/commands/local/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "common/http/client.h"
#include "tools/l4/ask/event_reader.h"
#include "tools/l4/ask/live_json.h"

namespace l4::commands::local {
namespace {

using serve::Page;
using serve::Tone;

constexpr Millis kSilence{40'000};  // a heartbeat comes each 15 s

/// "15:54:43Z"
std::string clock_of(TimeMs at) {
  return to_rfc3339(std::chrono::floor<std::chrono::seconds>(at)).substr(11, 8) + "Z";
}

Tone tone_of(const ask::ChangeRow& change) {
  if (change.kind == "resolved") return Tone::good;
  return change.state == "slow" ? Tone::uneasy : Tone::bad;
}

std::string what_of(const ask::ChangeRow& change) {
  if (change.kind == "resolved") return "is well again";
  return serve::spoken(change.state.empty() ? change.kind : change.state);
}

}  // namespace

std::string Story::text_of(const ask::StreamedEvent& event) {
  if (event.type == "job") return of_job(event.data);
  if (event.type == "incident" || event.type == "fleet") return of_change(event.data);
  return {};
}

std::string Story::of_job(std::string_view data) {
  const auto job = ask::read_job(data);
  if (!job) return {};
  const std::string news = fmt::format("{} {} {}", job->attempt, job->state, job->ended);
  std::string& last = jobs_[job->id];
  const bool is_new = last.empty();
  if (std::exchange(last, news) == news) return {};
  const bool is_over = job->state == "finished";
  if (!is_new && !is_over) return {};  // failures are told as incidents
  const bool is_failed = !job->incident.empty();
  Page page(style_);
  page.label(clock_of(now_()));
  page.row({{job->id, Tone::strong},
            {is_over ? " has finished" : " is watched", is_over ? Tone::good : Tone::plain},
            {is_over || !is_failed ? "" : " · " + serve::spoken(job->state), Tone::bad},
            {is_over ? fmt::format(" · {} · {}", serve::counted(job->ranks, "rank"),
                                   serve::counted(job->nodes, "node"))
                     : "",
             Tone::dim}});
  return page.release();
}

std::string Story::of_change(std::string_view data) {
  const auto change = ask::read_change(data);
  if (!change) return {};
  Page page(style_);
  page.label(clock_of(change->at));
  page.row({{change->job, Tone::strong},
            {change->job.empty() ? "" : " "},
            {what_of(*change), tone_of(*change)}});
  page.prose("", change->summary, kSummaryLines, 0);
  if (!change->job.empty() && change->kind != "resolved")
    page.row({{"l4 snapshot " + change->job, Tone::dim}});
  return page.release();
}

std::string json_of(const ask::StreamedEvent& event) {
  const bool is_about_jobs = event.type == "job" || event.type == "job_gone" ||
                             event.type == "incident" || event.type == "fleet";
  if (!is_about_jobs) return {};
  const auto line = ask::tidied_json(
      fmt::format(R"({{"type": "{}", "data": {}}})", event.type, event.data), serve::kOneLine);
  return line.value_or("");
}

void follow(const ask::Aggregator& asked,
            const std::function<bool(const ask::StreamedEvent&)>& on_event) {
  ask::EventReader reader;
  const auto ingest = [&](std::string_view piece) {
    return std::ranges::all_of(reader.feed(piece), on_event);
  };
  static_cast<void>(
      http::follow(asked.address + "/api/v1/events", ask::how_to_ask(asked, kSilence), ingest));
}

}  // namespace l4::commands::local
