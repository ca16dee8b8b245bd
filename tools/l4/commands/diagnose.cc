#include "tools/l4/commands/diagnose.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "agent/discover/layout_pattern.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "aggregator/numbers/table.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"
#include "offline/file_times.h"
#include "offline/inputs.h"
#include "offline/lines_writer.h"
#include "offline/offline.h"
#include "offline/settings.h"
#include "tools/l4/commands/flows/seen_network.h"
#include "tools/l4/commands/report_file.h"
#include "tools/l4/commands/zone.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/progress_line.h"

namespace l4::commands {
namespace {

Result<l4::faults::Library> load_faults(const DiagnoseOptions& options,
                                        const offline::Settings& settings) {
  if (options.without.has(diagnose::Part::library)) return l4::faults::Library();
  if (options.faults.empty()) return l4::faults::Library::load(settings.faults);
  auto library = l4::faults::Library::load(options.faults);
  if (!library)
    return std::unexpected(Error{"--faults: " + library.error().where, library.error().reason});
  return library;
}

/// Puts the numbers of the table in force, for the rest of the program; gives its weights.
Result<diagnose::clues::Scale> take_table(const std::filesystem::path& file) {
  if (file.empty()) return diagnose::clues::shipped_scale();
  auto table = diagnose::clues::read_table(file);
  if (!table)
    return std::unexpected(Error{"--table: " + table.error().where, table.error().reason});
  numbers::put_in_force(table->numbers);
  return table->scale;
}

diagnose::Options asked(const DiagnoseOptions& options) {
  diagnose::Options how;
  how.as_of = options.as_of;
  how.scoring = options.scoring == "paper" ? diagnose::Scoring::paper : diagnose::Scoring::l4;
  how.without = options.without;
  return how;
}

std::string render(const diagnose::Report& report, const DiagnoseOptions& options) {
  if (options.format == "json") return serve::to_json(report);
  serve::TextStyle style;
  style.color = options.out.empty() && terminal::is_color_wanted();
  style.top = options.top;
  return serve::to_text(report, style);
}

/// Prints the warnings to standard error, unless the same reader gets them in the report.
void write_warnings(const std::vector<wire::Warning>& warnings, const DiagnoseOptions& options) {
  constexpr std::size_t kWrittenMax = 20;
  if (options.format == "text" && options.out.empty()) return;
  const std::size_t written = std::min(kWrittenMax, warnings.size());
  for (std::size_t i = 0; i < written; ++i)
    std::cerr << "l4: warning: "
              << serve::harmless(Error{warnings[i].file, warnings[i].reason}.text())
              << (warnings[i].bytes > 0 ? fmt::format(" ({} bytes)", warnings[i].bytes) : "")
              << '\n';
  if (warnings.size() > written)
    std::cerr << fmt::format("l4: and {} more warnings, all in the report\n",
                             warnings.size() - written);
}

/// Reads each `--history`; one that cannot be read becomes a warning.
std::vector<offline::Job> read_history(const DiagnoseOptions& options,
                                       const segment::RulePackSet& packs,
                                       job::TemplateTable& templates, offline::Options offline,
                                       offline::Inputs& inputs, offline::Progress& progress,
                                       std::vector<wire::Warning>& warnings) {
  std::vector<offline::Job> runs;
  for (const std::filesystem::path& given : options.history) {
    ++offline.job_index;
    std::vector<wire::Warning> ignored;  // an unreadable part of a healthy run matters little
    auto paths = inputs.resolve({given}, ignored, progress);
    auto run = paths ? offline::read_job(*paths, packs, templates, offline, progress)
                     : Result<offline::Job>(std::unexpected(paths.error()));
    if (!run) {
      warnings.push_back({"history", given.string(), "left out: " + run.error().reason, 0});
      continue;
    }
    run->agents.clear();
    runs.push_back(std::move(*run));
  }
  return runs;
}

/// Writes the file of --html, if there is to be one.
int hand_on(const diagnose::Report& report, const job::JobState& state,
            const l4::faults::Library& library, const DiagnoseOptions& options) {
  if (options.html.empty()) return terminal::kDone;
  return write_html(report, beside_of(state, report, library), options.top, options.html, "l4");
}

constexpr auto kHistoryHelp =
    "a healthy run of the same kind of job: what it printed\n"
    "is normal; may be repeated";
constexpr auto kAsOfHelp =
    "when the logs were looked at, as RFC 3339 or seconds\n"
    "since 1970 (default: the newest line or file time)";
constexpr auto kZoneHelp =
    "zone of times printed without one: +02:00, UTC,\n"
    "Europe/Berlin (default: UTC)";
constexpr auto kFlowsHelp =
    "flow records of the network while the job ran, as\n"
    "'l4 flows' reads them; may be repeated";
constexpr auto kTopologyHelp =
    "servers, their cards, switches, storage, as JSON\n"
    "(default: topology.json in a folder of --flows)";
constexpr auto kScoringHelp =
    "paper is the published method to the letter, for\n"
    "comparison (default: l4)";
constexpr auto kTableHelp =
    "weights and numbers that differ from those as\n"
    "shipped; see config/scoring.toml";
constexpr auto kWithoutHelp =
    "switch parts off, to see what each contributes:\n"
    "wording, library, forest, dtw, durations,\n"
    "cross-job, accusations, processes";
constexpr auto kThreadsHelp =
    "worker threads (default: all cores); the report is\n"
    "the same for any number";
constexpr auto kLinesHelp =
    "write every line that shows the failure here, as rows\n"
    "of file, line number, template id and score";

}  // namespace

const char* const kDiagnoseFooter = R"(What a PATH may hold:
  NODE/rankK.log, torchrun's log folders, Slurm's output, worker-K.log, NeMo's and
  MPI's rank files, Ascend's plog, Kubernetes pod logs, NCCL debug files, dmesg, and
  any other text, also packed (gzip, zstd). Where the node and rank are not
  recognised, --layout says how paths name them; 'l4 inspect' shows how they are read.

Examples:
  l4 diagnose /logs/job-4711
  l4 diagnose /logs/job-4711 --history /logs/job-4690 --history /logs/job-4688
  l4 diagnose /logs/job-4711 --format json --out report.json --lines lines.tsv
  l4 diagnose /logs/job-4711 --html report.html
  l4 diagnose /logs/job-4711 --as-of 2026-11-20T16:30:00Z
  l4 diagnose /logs/job-4711 --flows /flows/2026-11-28 --topology fabric.json
  l4 diagnose /logs/job-4711 --layout '{node}/out.{rank}.txt'

Exit status:
  0   diagnosed; warnings tell of input that could not be read
  2   wrong use, or output that cannot be written
  3   nothing could be read
  10  with --exit-code: a failure was found

Environment:
  L4_CONFIG_DIR  folder that holds frameworks/ and faults/
  TMPDIR         where archives and standard input are unpacked (default: /tmp)
  NO_COLOR       if set, no colours)";

void add_diagnose(terminal::Options& to, DiagnoseOptions& options) {
  to.value("PATH", options.paths, "", "a folder, a file, a .tar.gz, or - for standard input")
      .required();
  constexpr auto kInput = "Input", kMethod = "Method", kOutput = "Output";
  to.value("--history", options.history, "PATH", kHistoryHelp).in_group(kInput).one_each_time();
  to.value("--layout", options.layout, "PATTERN", kLayoutHelp).in_group(kInput);
  to.value("--as-of", options.as_of_given, "TIME", kAsOfHelp).in_group(kInput);
  to.value("--tz", options.zone_given, "ZONE", kZoneHelp).in_group(kInput);
  to.value("--flows", options.flows, "PATH", kFlowsHelp).in_group(kInput).one_each_time();
  to.value("--topology", options.topology, "FILE", kTopologyHelp).in_group(kInput);
  to.value("--config", options.config, "FILE", "settings; see config/diagnose.toml")
      .in_group(kMethod);
  to.value("--faults", options.faults, "DIR", "use this fault library").in_group(kMethod);
  to.flag("--no-faults", options.no_faults, "the same as --without library").in_group(kMethod);
  to.value("--without", options.without_given, "LIST", kWithoutHelp).in_group(kMethod);
  to.value("--scoring", options.scoring, "l4|paper", kScoringHelp)
      .in_group(kMethod)
      .one_of({"l4", "paper"});
  to.value("--table", options.table, "FILE", kTableHelp).in_group(kMethod);
  to.value("--threads", options.threads, "N", kThreadsHelp).in_group(kMethod).between(1, 4'096);
  to.value("-o,--output,--format", options.format, "text|json",
           "for people (default), or for programs")
      .in_group(kOutput)
      .one_of({"text", "json"});
  to.value("--out", options.out, "FILE", "write the report here and not to standard output")
      .in_group(kOutput);
  add_html(to, options.html).in_group(kOutput);
  to.value("--lines", options.lines, "FILE", kLinesHelp).in_group(kOutput);
  to.value("--top", options.top, "N", "rows of each list in the text report (default: 8)")
      .in_group(kOutput)
      .between(1, 1'000'000);
  to.flag("--exit-code", options.exit_code, "end with 10 if a failure was found").in_group(kOutput);
}

Result<void> check_layout(const std::string& layout) {
  if (layout.empty()) return {};
  if (const auto pattern = discover::LayoutPattern::compile(layout); !pattern)
    return std::unexpected(pattern.error());
  return {};
}

Result<void> check_diagnose(DiagnoseOptions& options) {
  if (!options.as_of_given.empty()) {
    options.as_of = parse_time(options.as_of_given);
    if (!options.as_of)
      return std::unexpected(Error{"--as-of: " + options.as_of_given,
                                   "no time; write 2026-11-20T15:54:42Z or seconds since 1970"});
  }
  if (!options.topology.empty() && options.flows.empty())
    return std::unexpected(Error{"--topology", "tells of flow records; give --flows, too"});
  if (!options.zone_given.empty()) {
    const auto zone = parse_zone(options.zone_given);
    if (!zone) return std::unexpected(Error{"--tz: " + zone.error().where, zone.error().reason});
    options.zone = *zone;
  }
  const auto without = diagnose::parse_parts(options.without_given);
  if (!without)
    return std::unexpected(Error{"--without: " + without.error().where, without.error().reason});
  options.without = *without;
  if (options.no_faults) options.without.add(diagnose::Part::library);
  if (auto out = terminal::check_writable("--out", options.out); !out) return out;
  if (auto html = check_html(options.html, {}); !html) return html;
  if (auto lines = terminal::check_writable("--lines", options.lines); !lines) return lines;
  return check_layout(options.layout);
}

int run_diagnose(const DiagnoseOptions& options) {
  const auto scale = take_table(options.table);  // before anything holds a number
  if (!scale) return terminal::fail(scale.error(), terminal::kWrongUse);
  const auto settings = offline::load_settings(options.config);
  if (!settings) return terminal::fail(settings.error(), terminal::kWrongUse);
  auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return terminal::fail(packs.error(), terminal::kWrongUse);
  auto library = load_faults(options, *settings);
  if (!library) return terminal::fail(library.error(), terminal::kWrongUse);

  std::vector<std::filesystem::path> all = options.paths;
  all.insert(all.end(), options.history.begin(), options.history.end());
  auto inputs = offline::Inputs::make(all, settings->archive_bytes_max);
  if (!inputs) return terminal::fail(inputs.error(), terminal::kNothingRead);
  offline::Progress progress;
  terminal::ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  std::vector<wire::Warning> warnings;
  const auto paths = inputs->resolve(options.paths, warnings, progress);
  if (!paths) return terminal::fail(paths.error(), terminal::kNothingRead);

  job::TemplateTable templates;
  offline::Options offline;
  offline.layout = options.layout;
  offline.private_folder = inputs->private_folder();
  offline.agent = settings->agent;
  offline.shares = settings->shares;
  offline.agent.decode.zone = options.zone;
  offline.threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  auto job = offline::read_job(*paths, *packs, templates, offline, progress);
  if (!job) return terminal::fail(job.error(), terminal::kNothingRead);
  const auto runs = read_history(options, *packs, templates, offline, *inputs, progress, warnings);
  const auto network = flows::see_network(options.flows, options.topology, *job->state, warnings);
  if (!network) return terminal::fail(network.error(), terminal::kNothingRead);
  line.stop();

  job->state->note(std::move(warnings));
  std::vector<const job::JobState*> healthy;
  healthy.reserve(runs.size());
  for (const offline::Job& run : runs) healthy.push_back(run.state.get());
  diagnose::Options how = asked(options);
  how.network = network->has_value() ? &**network : nullptr;
  how.mtimes_equal = job->mtimes_equal || offline::times_of_copy(*job->state);
  how.library = &*library;
  how.scale = &*scale;
  how.hang = settings->hang;
  diagnose::Diagnosis diagnosis = diagnose::diagnose(*job->state, healthy, how);
  diagnosis.report.version = L4_VERSION;
  offline::add_examples(diagnosis, *job);
  write_warnings(diagnosis.report.warnings, options);
  // What cannot be written does not keep the report from being printed.
  const int html = hand_on(diagnosis.report, *job->state, *library, options);
  if (const int written =
          terminal::write_text(render(diagnosis.report, options), options.out, "l4");
      written != terminal::kDone)
    return written;
  if (!options.lines.empty())
    if (const auto written = offline::write_lines(diagnosis, *job, options.lines); !written)
      return terminal::fail(written.error(), terminal::kWrongUse);
  if (html != terminal::kDone) return html;
  // The process ends here: taking a large job's state apart piece by piece would only cost time.
  static const offline::Job* const kept = new offline::Job(std::move(*job));
  static_cast<void>(kept);
  if (options.exit_code && is_failure(diagnosis.report.verdict.state))
    return terminal::kFailureFound;
  return terminal::kDone;
}

}  // namespace l4::commands
