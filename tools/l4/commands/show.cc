#include "tools/l4/commands/show.h"

namespace l4::commands {

const char* const kShowFooter =
    R"(FILE is what 'l4 snapshot', 'l4 incidents ID' or 'l4 diagnose' wrote with --format json; no
aggregator is asked. A dash stands for standard input.

Examples:
  l4 show report.json
  l4 show now.json --diff before.json
  l4 show report.json --html report.html
  curl -s http://head-node:7440/api/v1/jobs/job-4711/snapshot | l4 show -

Exit status:
  0   here is the report
  2   wrong use, or output that cannot be written
  3   the file cannot be read, or is no report
  10  with --exit-code: the job failed)";

void add_show(terminal::Options& to, ShowOptions& options) {
  to.format(options.format);
  to.value("FILE", options.file, "", "the report").required();
  add_report_options(to, options);
}

Result<void> check_show(const ShowOptions& options) {
  return check_report_options(options);
}

int run_show(const ShowOptions& options) {
  constexpr auto kShowProgram = "l4 show";
  const auto report = read_report(options.file);
  Beside beside;
  if (report && !options.html.empty()) beside = beside_of(*report, kShowProgram);
  return show_report(options, report, kShowProgram, read_report, beside);
}

}  // namespace l4::commands
