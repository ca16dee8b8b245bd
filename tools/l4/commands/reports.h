// A report as commands show it: asked for or read from a file, whole or compared with another.
//
// Flow: an aggregator's answer or a file -> Report -> show_report -> standard output or a file.
// Whatever was sent is rendered harmless before it is printed. No state.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "aggregator/diagnose/report.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/commands/report_file.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {

/// Options for the form of a report.
struct ReportOptions {
  std::string format = "text";
  std::string diff;            ///< what to compare with; empty: nothing
  std::filesystem::path out;   ///< empty: standard output
  std::filesystem::path html;  ///< empty: no HTML file
  std::size_t top = 8;         ///< rows of each list in text
  bool exit_code = false;      ///< end with 10 if the job failed
};

/// `before`: what --diff may name.
void add_report_options(terminal::Options& to, ReportOptions& options, const char* before = "FILE");
/// Error: an output that could not be written, or outputs that do not go together.
Result<void> check_report_options(const ReportOptions& options);

/// A report in JSON that was kept; `-`: standard input.
ask::Answer<diagnose::Report> read_report(const std::filesystem::path& from);
/// A report that `asked` has sent.
ask::Answer<diagnose::Report> parse_report(const ask::Aggregator& asked, std::string_view text);

using ReadBefore = std::function<ask::Answer<diagnose::Report>(const std::string& diff)>;

/// Exit status: 0 shown; 2 output that cannot be written; 3, or the exit status of the Failure, no
/// report; 10 the job failed (with `exit_code`). `read_before` finds what --diff names; `beside`:
/// what the HTML file shows beside the report.
int show_report(const ReportOptions& options, const ask::Answer<diagnose::Report>& report,
                std::string_view program, const ReadBefore& read_before = read_report,
                const Beside& beside = {});

}  // namespace l4::commands
