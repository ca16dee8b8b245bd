#include "tools/l4/commands/follow.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/event_reader.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

constexpr Millis kSilence{40'000};  // a heartbeat comes each 15 s
constexpr std::chrono::seconds kPause{2};
constexpr auto kFollowProgram = "l4 incidents";

std::string line_of(const ask::ChangeRow& change) {
  std::string line = fmt::format("{} {}", to_rfc3339(change.at), change.kind);
  if (!change.job.empty())
    line += fmt::format(" {} attempt {} {}", change.job, change.attempt, change.state);
  if (!change.summary.empty()) line += ": " + change.summary;
  if (!change.first_node.empty()) line += "; first " + change.first_node;
  if (!change.incident.empty()) line += " (incident " + change.incident + ")";
  return serve::harmless(line) + "\n";
}

/// Writes the event; returns the exit status if nothing more can be written or read.
std::optional<int> write(const ask::StreamedEvent& event, const ask::Aggregator& asked,
                         const std::string& format) {
  if (event.type == "lost")
    terminal::fail(
        {asked.address, "events of the time before are no longer there; see 'l4 incidents'"},
        terminal::kDone, kFollowProgram);
  if (event.type != "incident" && event.type != "fleet") return {};
  const auto change = ask::read_change(event.data);
  if (!change)
    return terminal::fail(ask::misread(asked, change.error()).error().error, terminal::kNothingRead,
                          kFollowProgram);
  std::cout << (format == "json" ? ask::tidied_json(event.data, serve::kOneLine).value_or("{}\n")
                                 : line_of(*change));
  const int written = terminal::finish_output(kFollowProgram);
  return written == terminal::kDone ? std::nullopt : std::optional(written);
}

}  // namespace

int run_follow(const ask::Aggregator& asked, const std::string& job, const std::string& format) {
  ask::EventReader reader;
  std::optional<int> exit;
  std::string url = asked.address + "/api/v1/events";
  if (!job.empty()) url += "?job=" + http::percent_encoded(job);
  bool answered = false, in_trouble = false;
  const auto ingest = [&](std::string_view piece) {
    answered = true;
    if (std::exchange(in_trouble, false))
      terminal::fail({asked.address, "answers again"}, terminal::kDone, kFollowProgram);
    for (const ask::StreamedEvent& event : reader.feed(piece))
      if (!exit) exit = write(event, asked, format);
    return !exit;
  };
  for (;; std::this_thread::sleep_for(kPause)) {
    reader.begin();
    http::ClientOptions how = ask::how_to_ask(asked, kSilence);
    if (!reader.last_id().empty()) how.headers.emplace_back("Last-Event-ID", reader.last_id());
    const auto ended = http::follow(url, how, ingest);
    if (exit) return *exit;
    const auto failure = !ended ? ask::Failure{ended.error()}
                         : ended->status != 200
                             ? ask::failure_of(asked, *ended)
                             : ask::Failure{{asked.address, "has ended the stream"}};
    // A request that is refused now is refused later, too.
    const bool refused = ended && ended->status >= 400 && ended->status < 500;
    if (!answered || refused) return terminal::fail(failure.error, failure.exit, kFollowProgram);
    if (!std::exchange(in_trouble, true))
      terminal::fail({failure.error.where, failure.error.reason + "; asked again until it answers"},
                     terminal::kDone, kFollowProgram);
  }
}

}  // namespace l4::commands
