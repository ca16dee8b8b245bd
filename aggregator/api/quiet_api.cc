#include "aggregator/api/quiet_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "aggregator/api/incident_api.h"
#include "aggregator/api/pages.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/json_object.h"
#include "aggregator/serve/shell_pattern.h"
#include "aggregator/serve/utf8.h"

namespace l4::api {
namespace {

using alert::QuietRefusal;
using http::Response;
using serve::JsonWriter;

constexpr std::size_t kNoteMax = 500, kPatternMax = 200, kTimeMax = 64;
constexpr auto kLongest = std::chrono::days(366);

Response refused(const QuietRefusal& refusal) {
  switch (refusal.why) {
    case QuietRefusal::Why::unknown:
      return http::error_response(404, "not_found", refusal.message);
    case QuietRefusal::Why::conflict:
      return http::error_response(409, "conflict", refusal.message);
    case QuietRefusal::Why::database:
      break;
  }
  return refused_by_database(refusal.message);
}

/// The answer about the incident, which also tells those who follow.
Response told_incident(live::Aggregator& aggregator, const store::Incident& row,
                       const std::string& line) {
  JsonWriter text;
  rows::write(text, row, false, rows::notes_of(aggregator.quiet(), row, aggregator.now()));
  std::string body = text.release();
  aggregator.tell_quiet("acknowledged", row.job, body, line);
  return {200, "application/json", body + '\n'};
}

std::string maintenance_json(const live::Aggregator& aggregator, const store::Maintenance& row,
                             std::uint64_t incidents) {
  JsonWriter text;
  rows::write(text, row, incidents, aggregator.now());
  return text.release();
}

std::uint64_t held_by(live::Aggregator& aggregator, std::int64_t id) {
  const auto held = aggregator.quiet().held_incidents();
  const auto at = held.find(id);
  return at == held.end() ? 0 : at->second;
}

Response told_maintenance(live::Aggregator& aggregator, const store::Maintenance& row,
                          std::string_view what, const std::string& who) {
  const std::string body = maintenance_json(aggregator, row, held_by(aggregator, row.id));
  aggregator.tell_quiet(
      "maintenance", "", body,
      fmt::format("maintenance {} of {} {} {} by {}: until {}: {}", alert::maintenance_name(row.id),
                  row.kind, row.pattern, what, who, to_rfc3339(row.end()), row.why));
  return {200, "application/json", body + '\n'};
}

/// Whether the text ends with Z or +hh:mm; parse_time would take a time without a zone for UTC.
bool has_zone(std::string_view text) {
  constexpr std::size_t kOffset = 6;
  if (text.ends_with('Z') || text.ends_with('z')) return true;
  if (text.size() <= kOffset || !text.contains(':')) return false;
  const std::string_view zone = text.substr(text.size() - kOffset);
  return (zone[0] == '+' || zone[0] == '-') && zone[3] == ':';
}

/// Fills in until when; a fault is noted in the body.
void read_until(serve::JsonObject& body, TimeMs now, store::Maintenance& told) {
  const std::string text = body.text("until", kTimeMax);
  if (text.empty()) return;
  const auto until = parse_time(text);
  if (!until || !has_zone(text))
    return body.refuse("until",
                       "must be a time with its zone: 2026-11-20T18:00:00Z, or +08:00 in place "
                       "of Z");
  if (*until <= now)
    return body.refuse("until", fmt::format("is past; it is {} now", to_rfc3339(now)));
  if (*until > now + kLongest) return body.refuse("until", "is more than a year away");
  told.until = *until;
}

struct MaintenanceRequest {
  store::Maintenance told;
  bool unseen = false;  ///< the pattern may match nothing yet
};

std::expected<MaintenanceRequest, Response> read_maintenance(const RouteCall& call) {
  if (!is_json(call.request)) return std::unexpected(not_json());
  auto body = serve::JsonObject::read(call.request.body);
  if (!body) return std::unexpected(wrong("the body: " + body.error().text()));
  MaintenanceRequest asked;
  const std::string job = body->text_or_none("job", kPatternMax);
  const std::string node = body->text_or_none("node", kPatternMax);
  if (job.empty() == node.empty()) body->refuse("job", "either job or node must be given");
  asked.told.kind = job.empty() ? "node" : "job";
  asked.told.pattern = job.empty() ? node : job;
  asked.told.began = call.aggregator.now();
  read_until(*body, asked.told.began, asked.told);
  asked.told.why = body->text("why", kNoteMax);
  asked.told.who = call.request.who;
  asked.unseen = body->flag_or("unseen", false);
  if (const auto error = body->finish()) return std::unexpected(wrong(error->text()));
  return asked;
}

/// Maintenance of nodes may bear on any job.
bool may_see_maintenance(const RouteCall& call, const store::Maintenance& row) {
  const http::JobLimit& limit = call.request.jobs;
  return !limit.is_limited() || (row.kind == "job" && limit.covers(row.pattern));
}

Response hidden_maintenance(const store::Maintenance& told) {
  if (told.kind == "job") return nothing("job", serve::cut(told.pattern, kPatternMax));
  return http::error_response(403, "not_allowed",
                              "this token is limited to jobs, and nodes are of the whole site");
}

Response begin(live::Aggregator& aggregator, const MaintenanceRequest& asked) {
  const auto begun = aggregator.quiet().begin(asked.told);
  if (!begun) return refused(begun.error());
  return told_maintenance(aggregator, *begun, "begun", begun->who);
}

}  // namespace

Response acknowledge(const RouteCall& call) {
  if (!is_json(call.request)) return not_json();
  auto body = serve::JsonObject::read(call.request.body);
  if (!body) return wrong("the body: " + body.error().text());
  store::Acknowledgement told{call.id, {}, call.request.who, {}, call.aggregator.now()};
  told.note = body->text_or_none("note", kNoteMax);
  if (const auto error = body->finish()) return wrong(error->text());
  const auto row = asked_incident(call);
  if (!row) return row.error();
  if (row->resolved)
    return http::error_response(
        409, "conflict",
        fmt::format("incident {} was resolved at {}", call.id, to_rfc3339(*row->resolved)));
  told.job = row->job;
  const auto done = call.aggregator.quiet().acknowledge(told);
  if (!done) return refused(done.error());
  return told_incident(call.aggregator, *row,
                       fmt::format("incident {} acknowledged by {}{}{}", call.id, told.who,
                                   told.note.empty() ? "" : ": ", told.note));
}

Response take_back_acknowledgement(const RouteCall& call) {
  if (!call.request.body.empty()) return wrong("the body: nothing is asked for");
  const auto row = asked_incident(call);
  if (!row) return row.error();
  const auto gone = call.aggregator.quiet().take_back(call.id);
  if (!gone) return refused(gone.error());
  return told_incident(call.aggregator, *row,
                       fmt::format("incident {}: {} takes back what {} acknowledged", call.id,
                                   call.request.who, gone->who));
}

Response list_maintenance(const RouteCall& call) {
  const bool over = parameter(call.request, "over") == "true";
  const TimeMs now = call.aggregator.now();
  const auto held = call.aggregator.quiet().held_incidents();
  JsonWriter text;
  text.open('{').key("maintenance").open('[');
  auto rows = call.aggregator.quiet().maintenance(now, over);
  std::erase_if(rows,
                [&](const store::Maintenance& row) { return !may_see_maintenance(call, row); });
  const auto next = write_page(
      rows, page_query(call.request),
      [](const store::Maintenance& row) { return alert::maintenance_name(row.id); },
      [&](const store::Maintenance& row) {
        const auto at = held.find(row.id);
        rows::write(text, row, at == held.end() ? 0 : at->second, now);
        return text.size();
      });
  return next ? finish(text.close(']'), *next) : next.error();
}

void begin_maintenance(const RouteCall& call) {
  auto asked = read_maintenance(call);
  if (!asked) return call.reply(asked.error());
  if (!may_see_maintenance(call, asked->told)) return call.reply(hidden_maintenance(asked->told));
  live::Aggregator& aggregator = call.aggregator;
  if (asked->unseen) return call.reply(begin(aggregator, *asked));
  const bool taken = aggregator.names(
      asked->told.kind == "node" ? live::Named::nodes : live::Named::jobs,
      [&aggregator, asked = *asked, reply = call.reply](const std::vector<std::string>& names) {
        const std::string& pattern = asked.told.pattern;
        if (std::ranges::any_of(names, [&](const std::string& name) {
              return serve::matches_pattern(pattern, name);
            }))
          return reply(begin(aggregator, asked));
        reply(http::error_response(404, "not_found",
                                   fmt::format("no {} is called {} now; say unseen if one may come",
                                               asked.told.kind, serve::cut(pattern, kPatternMax))));
      });
  if (!taken) call.reply(busy());
}

Response end_maintenance(const RouteCall& call) {
  if (!call.request.body.empty()) return wrong("the body: nothing is asked for");
  const auto id = alert::maintenance_id(call.id);
  if (!id) return nothing("maintenance", call.id);
  const TimeMs now = call.aggregator.now();
  if (call.request.jobs.is_limited()) {
    const auto rows = call.aggregator.quiet().maintenance(now, true);
    const auto row = std::ranges::find(rows, *id, &store::Maintenance::id);
    if (row != rows.end() && !may_see_maintenance(call, *row))
      return nothing("maintenance", call.id);
  }
  const auto ended = call.aggregator.quiet().end(*id, call.request.who, now);
  if (!ended) return refused(ended.error());
  return told_maintenance(call.aggregator, *ended, "ended", ended->ended_by);
}

}  // namespace l4::api
