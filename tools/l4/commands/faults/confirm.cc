// `l4 faults confirm`, `drop` and `export`: the fault library of a running aggregator.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "aggregator/faults/fault_toml.h"
#include "aggregator/serve/json_reader.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {
namespace {

constexpr Millis kConfirmTimeout{60'000};

std::string body_of(const FaultsOptions& options) {
  serve::JsonWriter body;
  const auto given = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) body.member(name, value);
  };
  body.open('{').member("incident", options.incident);
  body.member("cause", options.cause).member("fix", options.fix);
  given("category", options.category);
  given("title", options.title);
  given("id", options.id);
  given("action", options.action_now);
  given("template", options.template_id);
  given("example", options.example);
  if (!options.patterns.empty()) body.member("patterns", options.patterns);
  return body.member("dry_run", options.dry_run).close('}').release();
}

/// A row with its label; control characters in its text are replaced.
void row(const char* label, std::string_view text) {
  if (!text.empty()) std::cout << fmt::format("{:<10} {}\n", label, serve::harmless(text));
}
void rows(const char* label, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) row(i == 0 ? label : "", texts[i]);
}

std::string healthy_row(const ConfirmedView& view) {
  if (view.templates == 0)
    return "nothing is known of healthy jobs: whether they print what it matches is not known";
  return fmt::format("none of {} templates of {} jobs and {} runs of the pool{}", view.templates,
                     view.jobs, view.runs, view.complete ? "" : "; not all could be looked at");
}

void write(const ConfirmedView& view) {
  const char* done = view.known ? "known" : view.stored ? "confirmed" : "would be";
  row(done, fmt::format("{} · {} ({}) · {} · {}", view.id, view.category, view.category_from,
                        view.scope, view.severity));
  row("title", view.title);
  rows("pattern", view.patterns);
  rows("codes", view.codes);
  rows("line", view.matches);
  rows("not", view.rejects);
  row("cause", view.cause);
  row("fix", view.fix);
  rows("evidence", view.evidence);
  row("also", fmt::format("{} of {} other incidents would have been answered",
                          view.also_matches.size(), view.incidents));
  rows("", view.also_matches);
  row("overlaps", view.overlaps);
  if (!view.known) row("healthy", healthy_row(view));
  if (!view.stored) row("", "nothing was stored: --dry-run");
}

/// Reports why the aggregator refused, with the lines that speak against it. Exit status: 1 if the
/// fault matches what it must not, 2 for wrong use, 3 otherwise.
int refuse(const FaultsOptions& options, const ask::Aggregator& asked,
           const http::ClientResponse& response, const char* program) {
  ask::Failure failure = ask::failure_of(asked, response);
  const unsigned status = response.status;
  if (failure.is_not_found())
    failure = options.action == FaultsOptions::Action::drop
                  ? ask::no_such_confirmed_fault(asked, options.id)
                  : ask::no_such_incident(asked, options.incident);
  if (status == 422) failure.exit = terminal::kFindings;
  if (status == 400 || status == 404 || status == 409) failure.exit = terminal::kWrongUse;
  const int exit = terminal::fail(failure.error, failure.exit, program);
  for (const auto& [where, text] : read_lines(response.body))
    std::cerr << fmt::format("  {}: {}\n", serve::harmless(where), serve::harmless(text));
  return exit;
}

/// Asks, calls `show` with the answer, and prints it where it is asked for as JSON.
template <class Show>
int exchange(const FaultsOptions& options, ask::Method method, const std::string& path,
             const std::string& body, const char* program, Show show) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, program);
  const auto response = ask::send(*asked, method, path, body, kConfirmTimeout);
  if (!response) return terminal::fail(response.error().error, response.error().exit, program);
  if (response->status != 200) return refuse(options, *asked, *response, program);
  const Result<std::string> tidy =
      options.format == "json" ? ask::tidied_json(response->body) : Result<std::string>("");
  const Result<void> shown = tidy ? show(response->body) : std::unexpected(tidy.error());
  if (!shown) {
    const ask::Failure failure = ask::misread(*asked, shown.error()).error();
    return terminal::fail(failure.error, failure.exit, program);
  }
  return terminal::write_text(*tidy, options.out, program);
}

/// What was true of the incident, as a body; `fault` and `template_id` as far as they are known.
std::string truth_of(const FaultsOptions& options, const std::string& fault,
                     const std::string& template_id) {
  serve::JsonWriter body;
  body.open('{');
  if (!options.state.empty()) body.member("state", options.state);
  if (!options.nodes.empty()) body.member("nodes", options.nodes);
  if (!options.rank.empty()) body.member("rank", options.rank);
  if (!template_id.empty()) body.member("template", template_id);
  if (!fault.empty()) body.member("fault", fault);
  return body.close('}').release();
}

/// `shown`: as rows; otherwise the text is only checked.
Result<void> read_label(const std::string& text, bool shown) {
  const auto json = serve::parse_json(text);
  if (!json) return std::unexpected(Error{"", json.error().reason});
  serve::JsonReader reader("$");
  serve::JsonMembers from(reader, *json);
  const std::string subject = reader.failed() ? "" : from.text("subject");
  if (shown) row("labelled", subject);
  if (!reader.failed())
    from.each("claims", [&](serve::JsonMembers& claim) {
      const std::string of = claim.text("of"), name = claim.text("name");
      const auto sure = claim.get<double>("confidence");
      const char* const judged = claim.get<bool>("right") ? "right" : "wrong";
      if (shown) row("", fmt::format("{} {}: {}, claimed with {:.2f}", of, name, judged, sure));
    });
  if (reader.error()) return std::unexpected(*reader.error());
  return {};
}

int label(const FaultsOptions& options, const std::string& fault, const std::string& template_id) {
  const std::string path =
      "/api/v1/incidents/" + http::percent_encoded(options.incident) + "/label";
  return exchange(
      options, ask::Method::post, path, truth_of(options, fault, template_id), "l4 faults confirm",
      [&](const std::string& body) { return read_label(body, options.format != "json"); });
}

/// The text, unchanged for a file, and made harmless for a terminal.
std::string for_output(std::string text, const FaultsOptions& options) {
  if (!options.out.empty() || isatty(STDOUT_FILENO) == 0) return text;
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    shown += serve::harmless(rest.substr(0, end)) + '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return shown;
}

int export_folder(const FaultsOptions& options, const char* program) {
  const auto library = l4::faults::Library::load(options.faults);
  if (!library) return terminal::fail(library.error(), terminal::kWrongUse, program);
  std::vector<const l4::faults::Fault*> kept;
  for (const l4::faults::Fault& fault : library->faults())
    if (!options.confirmed || fault.confirmed) kept.push_back(&fault);
  std::string text;
  if (options.format == "json") text = to_json(kept);
  if (options.format != "json")
    for (const l4::faults::Fault* fault : kept)
      text += (text.empty() ? "" : "\n") + l4::faults::to_toml(*fault);
  return terminal::write_text(for_output(std::move(text), options), options.out, program);
}

/// All pages as one text, without the lines that announce a next page.
ask::Answer<std::string> fetch_toml(const ask::Aggregator& asked, const std::string& path) {
  std::string text, after;
  for (;;) {
    const auto page =
        ask::fetch(asked, after.empty() ? path : path + "&after=" + http::percent_encoded(after),
                   kConfirmTimeout);
    if (!page) return std::unexpected(page.error());
    std::string_view rows = *page;
    const std::size_t last = rows.rfind('\n', rows.size() < 2 ? 0 : rows.size() - 2);
    const std::string_view end = last == rows.npos ? "" : rows.substr(last + 1);
    text += text.empty() ? "" : "\n";
    if (!end.starts_with(l4::faults::kMoreFaults)) return text.append(rows);
    after =
        end.substr(l4::faults::kMoreFaults.size(), end.size() - l4::faults::kMoreFaults.size() - 1);
    text.append(rows.substr(0, last + 1));
  }
}

}  // namespace

int confirm_fault(const FaultsOptions& options) {
  if (options.cause.empty()) return label(options, {}, options.template_id);
  std::string fault, template_id;
  const auto read = [&](const std::string& body) -> Result<void> {
    const auto view = read_confirmed(body);
    if (!view) return std::unexpected(view.error());
    fault = view->id;
    template_id = view->template_id;
    if (options.format != "json") write(*view);
    return {};
  };
  const int done = exchange(options, ask::Method::post, "/api/v1/faults", body_of(options),
                            "l4 faults confirm", read);
  if (done != terminal::kDone || options.dry_run || !has_truth(options)) return done;
  return label(options, fault, template_id);
}

int drop_fault(const FaultsOptions& options) {
  const std::string path = "/api/v1/faults/" + http::percent_encoded(options.id);
  return exchange(options, ask::Method::erase, path, {}, "l4 faults drop",
                  [&](const std::string&) -> Result<void> {
                    if (options.format != "json") row("withdrawn", options.id);
                    return {};
                  });
}

int export_faults(const FaultsOptions& options) {
  constexpr auto kProgram = "l4 faults export";
  if (!options.faults.empty()) return export_folder(options, kProgram);
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kProgram);
  const std::string path = fmt::format("/api/v1/faults?whole=true&confirmed={}", options.confirmed);
  if (options.format != "json") {
    auto text = fetch_toml(*asked, path + "&format=toml");
    if (!text) return terminal::fail(text.error().error, text.error().exit, kProgram);
    return terminal::write_text(for_output(std::move(*text), options), options.out, kProgram);
  }
  const auto body = ask::fetch_list(*asked, path, "faults", kConfirmTimeout);
  if (!body) return terminal::fail(body.error().error, body.error().exit, kProgram);
  const auto tidy = ask::tidied_json(*body);
  if (!tidy) {
    const ask::Failure failure = ask::misread(*asked, tidy.error()).error();
    return terminal::fail(failure.error, failure.exit, kProgram);
  }
  return terminal::write_text(*tidy, options.out, kProgram);
}

}  // namespace l4::commands::faults
