#include "tools/l4/live_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>
#include <vector>

#include "aggregator/serve/report_diff.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "common/http/client.h"
#include "common/http/url.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/live_json.h"
#include "tools/l4/live_view.h"
#include "tools/l4/nearest.h"
#include "tools/l4/terminal.h"

namespace l4::cli {
namespace {

constexpr auto kDefaultAddress = "http://127.0.0.1:7440";

const char* program_of(const LiveOptions& options) {
  using enum LiveOptions::Action;
  switch (options.action) {
    case jobs:
      return "l4 jobs";
    case snapshot:
      return "l4 snapshot";
    case agents:
      return "l4 agents";
    case incidents:
      return "l4 incidents";
    case show:
      break;
  }
  return "l4 show";
}

/// What to say and how to end.
struct Failure {
  Error error;
  int exit = kNothingRead;
};
template <class T>
using Answer = std::expected<T, Failure>;

std::unexpected<Failure> failed(std::string where, std::string reason, int exit = kNothingRead) {
  return std::unexpected(Failure{{std::move(where), std::move(reason)}, exit});
}

/// The aggregator that is to be asked.
struct Aggregator {
  std::string address;  ///< without a slash at its end
  std::string token;    ///< empty: none
};

/// The first word of --token-file, or L4_TOKEN.
Answer<std::string> find_token(const LiveOptions& options) {
  if (options.token_file.empty()) {
    const char* given = std::getenv("L4_TOKEN");
    return given != nullptr ? given : "";
  }
  std::ifstream file(options.token_file);
  std::string token;
  if (!file) return failed(options.token_file.string(), "cannot be read", kWrongUse);
  if (!(file >> token)) return failed(options.token_file.string(), "holds no token", kWrongUse);
  return token;
}

Answer<std::string> find_address(const LiveOptions& options) {
  std::string address = options.address;
  const char* given = std::getenv("L4_ADDRESS");
  if (address.empty() && given != nullptr) {
    address = given;
    if (const auto url = http::parse_url(address); !address.empty() && !url)
      return failed("L4_ADDRESS: " + url.error().where, url.error().reason, kWrongUse);
  }
  if (address.empty()) address = kDefaultAddress;
  address = address.substr(0, address.find_first_of("?#"));
  address.erase(address.find_last_not_of('/') + 1);
  return address;
}

/// Body of a 200; everything else is a failure that says why. `status` tells other answers apart.
Answer<std::string> fetch(const Aggregator& asked, const std::string& path, Millis timeout,
                          unsigned* status = nullptr) {
  http::ClientOptions how{.timeout = timeout};
  if (!asked.token.empty()) how.headers.emplace_back("Authorization", "Bearer " + asked.token);
  const std::string& address = asked.address;
  auto response = http::get(address + path, how);
  if (!response)
    return failed(response.error().where,
                  response.error().reason + " - is l4-aggregator running there?");
  if (status != nullptr) *status = response->status;
  if (response->status == 200) return std::move(response->body);
  const std::string message = read_error(response->body);
  return failed(address, message.empty()
                             ? fmt::format("answered with status {} - is this l4-aggregator?",
                                           response->status)
                             : fmt::format("{} (status {})", message, response->status));
}

std::unexpected<Failure> misread(const Aggregator& asked, const Error& error) {
  return failed(asked.address,
                fmt::format("is not the answer that was expected: {}", error.text()));
}

/// A list, as JSON or as the text that `read` and to_text make of it.
template <class Read>
Answer<std::string> show_list(const LiveOptions& options, const Aggregator& asked,
                              const std::string& path, Read read) {
  constexpr Millis kTimeout{10'000};
  const auto body = fetch(asked, path, kTimeout);
  if (!body) return std::unexpected(body.error());
  const auto list = read(*body);
  if (!list) return misread(asked, list.error());
  if (options.format == "json") {
    const auto tidy = tidied_json(*body);
    if (!tidy) return misread(asked, tidy.error());
    return *tidy;
  }
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return to_text(*list, now, {.color = is_color_wanted(), .width = width_of_output()});
}

/// There is no such job: which may have been meant?
Failure no_such_job(const LiveOptions& options, const Aggregator& asked) {
  constexpr std::size_t kMost = 4;
  Failure failure{{"", fmt::format("there is no job {}", options.job)}, kWrongUse};
  const auto body = fetch(asked, "/api/v1/jobs", Millis{10'000});
  const auto list = body ? read_jobs(*body) : std::unexpected(Error{});
  if (!list) return failure;
  std::vector<std::string> ids;
  for (const JobRow& job : list->jobs) ids.push_back(job.id);
  std::vector<std::string> near = nearest_words(options.job, ids, kMost);
  if (ids.empty()) {
    failure.error.reason += "; none is watched now";
  } else if (near.empty()) {
    failure.error.reason += "; 'l4 jobs' names those that are watched";
  } else {
    failure.error.reason += "; did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i)
      failure.error.reason += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
    failure.error.reason += "?";
  }
  return failure;
}

Answer<diagnose::Report> fetch_snapshot(const LiveOptions& options, const Aggregator& asked) {
  constexpr Millis kTimeout{60'000};
  unsigned status = 0;
  const auto body =
      fetch(asked, fmt::format("/api/v1/jobs/{}/snapshot", http::percent_encoded(options.job)),
            kTimeout, &status);
  if (!body && status == 404 && !body.error().error.reason.starts_with("answered"))
    return std::unexpected(no_such_job(options, asked));
  if (!body) return std::unexpected(body.error());
  auto report = serve::report_from_json(*body);
  if (!report) return misread(asked, report.error());
  return std::move(*report);
}

Answer<diagnose::Report> fetch_incident(const LiveOptions& options, const Aggregator& asked) {
  constexpr Millis kTimeout{10'000};
  unsigned status = 0;
  const auto body =
      fetch(asked, fmt::format("/api/v1/incidents/{}", http::percent_encoded(options.incident)),
            kTimeout, &status);
  if (!body && status == 404 && !body.error().error.reason.starts_with("answered"))
    return failed(
        "", fmt::format("there is no incident {}; 'l4 incidents' names them", options.incident),
        kWrongUse);
  if (!body) return std::unexpected(body.error());
  const auto text = report_of_incident(*body, options.opening);
  if (!text) return misread(asked, text.error());
  auto report = serve::report_from_json(*text);
  if (!report) return misread(asked, report.error());
  return std::move(*report);
}

Answer<diagnose::Report> read_report(const std::filesystem::path& from) {
  const bool piped = from == "-";
  const std::string name = piped ? "standard input" : from.string();
  std::error_code ignored;
  std::ifstream file;
  if (!piped) file.open(from, std::ios::binary);
  if (!piped && (!file || std::filesystem::is_directory(from, ignored)))
    return failed(name, "cannot be read");
  std::ostringstream text;
  text << (piped ? std::cin.rdbuf() : file.rdbuf());
  auto report = serve::report_from_json(text.view());
  if (report) return std::move(*report);
  return failed(name, "is no report of l4: " + report.error().text());
}

int show_report(const LiveOptions& options, const Answer<diagnose::Report>& report) {
  if (!report) return fail(report.error().error, report.error().exit, program_of(options));
  serve::TextStyle style;
  style.color = options.out.empty() && is_color_wanted();
  style.top = options.top;
  const bool json = options.format == "json";
  if (!options.diff.empty()) {
    const auto before = read_report(options.diff);
    if (!before) return fail(before.error().error, before.error().exit, program_of(options));
    const std::string text =
        json ? serve::diff_json(*before, *report) : serve::diff_text(*before, *report, style);
    return write_text(text, options.out, program_of(options));
  }
  const std::string text = json ? serve::to_json(*report) : serve::to_text(*report, style);
  if (const int written = write_text(text, options.out, program_of(options)); written != kDone)
    return written;
  return options.exit_code && is_failure(report->verdict.state) ? kFailureFound : kDone;
}

std::string incidents_path(const LiveOptions& options) {
  std::string path = fmt::format("/api/v1/incidents?count={}", options.count);
  if (!options.job.empty()) path += "&job=" + http::percent_encoded(options.job);
  if (options.open) path += "&open=true";
  return path;
}

}  // namespace

int run_live(const LiveOptions& options) {
  using enum LiveOptions::Action;
  if (options.action == show) return show_report(options, read_report(options.file));
  const auto address = find_address(options);
  if (!address) return fail(address.error().error, address.error().exit, program_of(options));
  const auto token = find_token(options);
  if (!token) return fail(token.error().error, token.error().exit, program_of(options));
  const Aggregator asked{*address, *token};
  if (options.action == snapshot) return show_report(options, fetch_snapshot(options, asked));
  if (options.action == incidents && !options.incident.empty())
    return show_report(options, fetch_incident(options, asked));
  const auto text = options.action == jobs ? show_list(options, asked, "/api/v1/jobs", read_jobs)
                    : options.action == agents
                        ? show_list(options, asked, "/api/v1/agents", read_agents)
                        : show_list(options, asked, incidents_path(options), read_incidents);
  if (!text) return fail(text.error().error, text.error().exit, program_of(options));
  return write_text(*text, {}, program_of(options));
}

}  // namespace l4::cli
