#include "tools/l4/live_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

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
  return options.action == jobs       ? "l4 jobs"
         : options.action == snapshot ? "l4 snapshot"
                                      : "l4 agents";
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

/// The aggregator that is to be asked, without a slash at its end.
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
Answer<std::string> fetch(const std::string& address, const std::string& path, Millis timeout,
                          unsigned* status = nullptr) {
  auto response = http::get(address + path, {.timeout = timeout});
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

std::unexpected<Failure> misread(const std::string& address, const Error& error) {
  return failed(address, fmt::format("is not the answer that was expected: {}", error.text()));
}

/// A list, as JSON or as the text that `read` and to_text make of it.
template <class Read>
Answer<std::string> show_list(const LiveOptions& options, const std::string& address,
                              const char* path, Read read) {
  constexpr Millis kTimeout{10'000};
  const auto body = fetch(address, path, kTimeout);
  if (!body) return std::unexpected(body.error());
  const auto list = read(*body);
  if (!list) return misread(address, list.error());
  if (options.format == "json") {
    const auto tidy = tidied_json(*body);
    if (!tidy) return misread(address, tidy.error());
    return *tidy;
  }
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return to_text(*list, now, {.color = is_color_wanted(), .width = width_of_output()});
}

/// There is no such job: which may have been meant?
Failure no_such_job(const LiveOptions& options, const std::string& address) {
  constexpr std::size_t kMost = 4;
  Failure failure{{"", fmt::format("there is no job {}", options.job)}, kWrongUse};
  const auto body = fetch(address, "/api/v1/jobs", Millis{10'000});
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

Answer<diagnose::Report> fetch_report(const LiveOptions& options, const std::string& address) {
  constexpr Millis kTimeout{60'000};
  unsigned status = 0;
  const auto body =
      fetch(address, fmt::format("/api/v1/jobs/{}/snapshot", http::percent_encoded(options.job)),
            kTimeout, &status);
  if (!body && status == 404 && !body.error().error.reason.starts_with("answered"))
    return std::unexpected(no_such_job(options, address));
  if (!body) return std::unexpected(body.error());
  auto report = serve::report_from_json(*body);
  if (!report) return misread(address, report.error());
  return std::move(*report);
}

int show_snapshot(const LiveOptions& options, const std::string& address) {
  const auto report = fetch_report(options, address);
  if (!report) return fail(report.error().error, report.error().exit, program_of(options));
  serve::TextStyle style;
  style.color = options.out.empty() && is_color_wanted();
  style.top = options.top;
  const std::string text =
      options.format == "json" ? serve::to_json(*report) : serve::to_text(*report, style);
  if (const int written = write_text(text, options.out, program_of(options)); written != kDone)
    return written;
  return options.exit_code && is_failure(report->verdict.state) ? kFailureFound : kDone;
}

}  // namespace

int run_live(const LiveOptions& options) {
  const auto address = find_address(options);
  if (!address) return fail(address.error().error, address.error().exit, program_of(options));
  using enum LiveOptions::Action;
  if (options.action == snapshot) return show_snapshot(options, *address);
  const auto text = options.action == jobs
                        ? show_list(options, *address, "/api/v1/jobs", read_jobs)
                        : show_list(options, *address, "/api/v1/agents", read_agents);
  if (!text) return fail(text.error().error, text.error().exit, program_of(options));
  return write_text(*text, {}, program_of(options));
}

}  // namespace l4::cli
