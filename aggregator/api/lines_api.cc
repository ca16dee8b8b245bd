#include "aggregator/api/lines_api.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "aggregator/api/replies.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "common/wire/greeting.h"

namespace l4::api {
namespace {

using http::Response;
using serve::JsonWriter;

template <class T>
using Read = std::expected<T, Response>;

std::unexpected<Response> refused(std::string_view key, std::string_view value,
                                  std::string_view must) {
  return std::unexpected(http::error_response(
      400, "bad_request",
      fmt::format("{} must be {}, not '{}'", key, must, serve::cut(value, 80))));
}

Read<std::uint64_t> number(std::string_view key, std::string_view text, std::uint64_t from,
                           std::uint64_t to) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc{} && at == end && !text.empty() && value >= from && value <= to)
    return value;
  return refused(key, text, fmt::format("a number from {} to {}", from, to));
}

Read<TemplateId> template_id(std::string_view text) {
  std::uint64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, id, 16);
  if (text.size() == 16 && failed == std::errc{} && at == end) return TemplateId{id};
  return refused("template", text, "16 hexadecimal digits");
}

/// Parses one parameter; refused_parameter knows all names.
Read<void> parse_parameter(fetch::LinesQuery& query, std::string_view key, std::string_view value) {
  constexpr auto kRankMost = std::numeric_limits<std::int32_t>::max();
  if (key == "template") {
    const auto id = template_id(value);
    if (!id) return std::unexpected(id.error());
    query.template_id = *id;
  } else if (key == "node") {
    if (value.empty() || value.size() > wire::kPathBytesMax)
      return refused(key, value, "the name of a node");
    query.node = value;
  } else if (key == "rank") {
    const auto rank = number(key, value, 0, kRankMost);
    if (!rank) return std::unexpected(rank.error());
    query.rank = Rank{static_cast<std::int32_t>(*rank)};
  } else if (key == "around") {
    query.around = parse_time(value);
    if (!query.around) return refused(key, value, "a time such as 2026-11-20T15:54:42.120Z");
  } else if (key == "context") {
    const auto context = number(key, value, 0, wire::kLinesContextMax);
    if (!context) return std::unexpected(context.error());
    query.context = *context;
  } else if (key == "limit") {
    const auto limit = number(key, value, 1, wire::kLinesMax);
    if (!limit) return std::unexpected(limit.error());
    query.limit = *limit;
  }
  return {};
}

Read<fetch::LinesQuery> read_query(const std::string& job, const http::Request& request) {
  fetch::LinesQuery query;
  query.job = job;
  query.who = request.who;
  query.peer = request.peer;
  for (const auto& [key, value] : request.query) {
    const auto parsed = parse_parameter(query, key, value);
    if (!parsed) return std::unexpected(parsed.error());
  }
  if (!query.template_id && query.node.empty() && !query.rank)
    return std::unexpected(wrong("say which lines: template, node or rank"));
  return query;
}

void write(JsonWriter& to, const fetch::GivenLine& line) {
  to.open('{').member("node", line.node).member("rank", line.rank).member("agent", line.agent);
  to.member("file", line.file).key("line");
  line.number > 0 ? to.value(line.number) : to.raw("null");
  to.member("offset", line.offset).member("time", line.time).member("hit", line.hit);
  to.member("cut", line.cut).member("text", line.text).close('}');
}

void write(JsonWriter& to, const fetch::LinesMissing& missing) {
  const auto text_or_null = [&](std::string_view key, const std::string& text) {
    to.key(key);
    text.empty() ? to.raw("null") : to.value(text);
  };
  to.open('{').member("kind", wire::to_string(missing.kind));
  text_or_null("agent", missing.agent);
  text_or_null("node", missing.node);
  text_or_null("file", missing.file);
  to.member("text", missing.text).close('}');
}

Response lines_json(const std::string& job, const fetch::LinesResult& result) {
  JsonWriter to;
  to.open('{').member("job", job).member("agents_asked", result.agents_asked);
  to.member("agents_answered", result.agents_answered).member("redacted", result.redacted);
  to.member("bytes_read", result.bytes_read).member("complete", result.missing.empty());
  to.key("lines").open('[');
  for (const fetch::GivenLine& line : result.lines) write(to, line);
  to.close(']').key("missing").open('[');
  for (const fetch::LinesMissing& missing : result.missing) write(to, missing);
  to.close(']').close('}');
  return json(to);
}

/// Names the requested things that the job does not have.
Response no_lines(const fetch::LinesQuery& query) {
  std::string what;
  const auto add = [&](const std::string& text) { what += (what.empty() ? "" : " of ") + text; };
  if (query.template_id) add("template " + to_string(*query.template_id));
  if (query.rank) add(fmt::format("rank {}", query.rank->value()));
  if (!query.node.empty()) add("node " + query.node);
  return http::error_response(404, "not_found",
                              fmt::format("job {} has no line of {}", query.job, what));
}

}  // namespace

void list_lines(const RouteCall& call) {
  const auto query = read_query(call.id, call.request);
  if (!query) return call.reply(query.error());
  const bool asked =
      call.aggregator.lines(*query, [reply = call.reply, query = *query](const auto& result) {
        using Kind = fetch::LinesProblem::Kind;
        if (result) return reply(lines_json(query.job, *result));
        if (result.error().kind == Kind::no_job) return reply(nothing("job", query.job));
        if (result.error().kind == Kind::nothing) return reply(no_lines(query));
        reply(http::error_response(503, "busy", "too many questions for lines are under way"));
      });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
