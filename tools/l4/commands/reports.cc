#include "tools/l4/commands/reports.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "aggregator/serve/report_diff.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {

void add_report_options(terminal::Options& to, ReportOptions& options, const char* before) {
  to.value("--diff", options.diff, before, "what has changed since this report");
  to.value("--out", options.out, "FILE", "write the report here and not to standard output");
  add_html(to, options.html);
  to.value("--top", options.top, "N", "rows of each list in the text report (default: 8)")
      .between(1, 1'000'000);
  to.flag("--exit-code", options.exit_code, "end with 10 if the job failed");
}

Result<void> check_report_options(const ReportOptions& options) {
  if (auto wrong = terminal::check_writable("--out", options.out); !wrong) return wrong;
  return check_html(options.html, options.diff);
}

ask::Answer<diagnose::Report> read_report(const std::filesystem::path& from) {
  const bool piped = from == "-";
  const std::string name = piped ? "standard input" : from.string();
  std::error_code ignored;
  std::ifstream file;
  if (!piped) file.open(from, std::ios::binary);
  if (!piped && (!file || std::filesystem::is_directory(from, ignored)))
    return ask::failed(name, "cannot be read");
  std::ostringstream text;
  text << (piped ? std::cin.rdbuf() : file.rdbuf());
  auto report = serve::report_from_json(text.view());
  if (report) return std::move(*report);
  return ask::failed(name, "is no report of l4: " + report.error().text());
}

ask::Answer<diagnose::Report> parse_report(const ask::Aggregator& asked, std::string_view text) {
  auto report = serve::report_from_json(text);
  if (!report) return ask::misread(asked, report.error());
  return std::move(*report);
}

int show_report(const ReportOptions& options, const ask::Answer<diagnose::Report>& report,
                std::string_view program, const ReadBefore& read_before, const Beside& beside) {
  if (!report) return terminal::fail(report.error().error, report.error().exit, program);
  // What cannot be written does not keep the report from being printed.
  const int html = write_html(*report, beside, options.top, options.html, program);
  serve::TextStyle style;
  style.color = options.out.empty() && terminal::is_color_wanted();
  style.top = options.top;
  const bool json = options.format == "json";
  if (!options.diff.empty()) {
    const auto before = read_before(options.diff);
    if (!before) return terminal::fail(before.error().error, before.error().exit, program);
    const std::string text =
        json ? serve::diff_json(*before, *report) : serve::diff_text(*before, *report, style);
    return terminal::write_text(text, options.out, program);
  }
  const std::string text = json ? serve::to_json(*report) : serve::to_text(*report, style);
  if (const int written = terminal::write_text(text, options.out, program);
      written != terminal::kDone)
    return written;
  if (html != terminal::kDone) return html;
  return options.exit_code && is_failure(report->verdict.state) ? terminal::kFailureFound
                                                                : terminal::kDone;
}

}  // namespace l4::commands
