#include "aggregator/alert/slack.h"

#include <fmt/format.h>

#include <array>

#include "aggregator/alert/brief.h"
#include "aggregator/serve/json_text.h"

namespace l4::alert {
namespace {

constexpr std::size_t kBlockMax = 3'000;  ///< characters of one block, as Slack counts them
constexpr std::size_t kHeadMax = 550;     ///< escaping makes it at most five times as long
constexpr std::array<std::string_view, 2> kSlackKeys{"url", "ca"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

void write_text(serve::JsonWriter& json, const std::string& text) {
  json.open('{').member("type", "mrkdwn").member("text", text);
  json.member("verbatim", true).close('}');
}

void write_section(serve::JsonWriter& json, const std::string& text) {
  json.open('{').member("type", "section").key("text");
  write_text(json, text);
  json.close('}');
}

/// The link to the page, as Slack reads one; empty if there is none.
std::string link_text(const Alert& alert, const Origin& from) {
  const std::string page = link(alert, from);
  if (page.empty()) return {};
  return fmt::format("<{}|{}>", escaped(page),
                     !alert.incident.empty() ? "Open the incident"
                     : !alert.job.empty()    ? "Open the job"
                                             : "Open the page");
}

/// One line for each detail, as many whole lines as one block holds.
std::string lines_of(const Alert& alert) {
  std::string lines;
  for (const auto& [key, text] : details(alert)) {
    if (key == "summary" || key == "state" || key == "node" || key == "rank") continue;
    const std::string line = fmt::format("*{}:* {}\n", key, escaped(text));
    if (lines.size() + line.size() <= kBlockMax) lines += line;
  }
  return lines;
}

}  // namespace

constinit const SinkKind kSlack{
    .name = "slack",
    .keys = kSlackKeys,
    .read = read_address,
    .body = to_slack,
};

std::string to_slack(const Alert& alert, const Origin& from) {
  const std::string_view word = alert.kind == Kind::test ? "test"
                                : is_over(alert)         ? "resolved"
                                                         : name(severity(alert));
  const std::string head = escaped(brief(headline(alert), kHeadMax));
  serve::JsonWriter json;
  const std::string page = link_text(alert, from);
  json.open('{').member("text",
                        fmt::format("[{}] {}{}{}", word, head, page.empty() ? "" : "\n", page));
  json.key("blocks").open('[');
  write_section(json, fmt::format("*{}* {}", word, head));
  if (const std::string lines = lines_of(alert); !lines.empty() && !is_over(alert))
    write_section(json, lines);
  if (!page.empty()) write_section(json, page);
  json.open('{').member("type", "context").key("elements").open('[');
  write_text(json,
             escaped(brief(fmt::format("{} {} {}", from.source, key(alert), to_rfc3339(alert.at)),
                           kHeadMax)));
  json.close(']').close('}').close(']').close('}');
  return json.release();
}

}  // namespace l4::alert
