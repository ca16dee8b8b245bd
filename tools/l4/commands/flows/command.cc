#include "tools/l4/commands/flows/command.h"

#include <charconv>
#include <iostream>
#include <optional>
#include <string_view>

#include "aggregator/flows/analyser.h"
#include "aggregator/flows/decode/flow_files.h"
#include "aggregator/flows/decode/topology_file.h"
#include "aggregator/flows/paper_rules.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/commands/flows/flow_json.h"
#include "tools/l4/commands/flows/flow_text.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::flows {
namespace {

namespace decode = l4::flows::decode;

constexpr auto kFooter = R"(What a PATH may hold:
  CSV with a header (start_ns, end_ns, src, dst, bytes; also src_port, dst_port, proto, packets,
  exporter, sequence), IPFIX files, files of nfcapd or sfcapd (read by nfdump), or a folder of one
  of these and topology.json. docs/FLOWS.md says what records must be like, how exporters are
  set, and what cannot be told.

Examples:
  l4 flows /flows/2026-11-28
  l4 flows flows.csv --topology fabric.json --trace steps.json    # open it in ui.perfetto.dev
  l4 flows nfcapd.202611281200 --sampled 1024 --format json --out flows.json

Exit status:
  0   here it is; warnings tell of input that could not be read
  2   wrong use, or output that cannot be written
  3   nothing could be read
  10  with --exit-code: something was found)";

/// A number from `least` on; none if the text is no such number.
std::optional<double> number_from(const std::string& text, double least) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least) || value > 1e6)
    return std::nullopt;
  return value;
}

Result<l4::flows::ExporterSettings> settings_of(const FlowsOptions& options) {
  l4::flows::ExporterSettings settings{0, 0, 0, false};
  const auto read = [](const char* name, const std::string& text, double least,
                       double& value) -> Result<void> {
    if (text.empty()) return {};
    const auto number = number_from(text, least);
    if (!number)
      return std::unexpected(Error{std::string(name) + ": " + text, "is no number in its range"});
    value = *number;
    return {};
  };
  double sampled = 0, active = 0, inactive = 0;
  for (const auto& done :
       {read("--sampled", options.sampled, 1, sampled), read("--active", options.active, 0, active),
        read("--inactive", options.inactive, 0, inactive)})
    if (!done) return std::unexpected(done.error());
  settings.sampling = static_cast<std::uint32_t>(sampled);
  settings.active = static_cast<l4::flows::TimeNs>(active * 1e9);
  settings.inactive = static_cast<l4::flows::TimeNs>(inactive * 1e9);
  return settings;
}

Result<void> check_flows(const FlowsOptions& options) {
  if (const auto settings = settings_of(options); !settings)
    return std::unexpected(settings.error());
  if (auto out = terminal::check_writable("--out", options.out); !out) return out;
  return terminal::check_writable("--trace", options.trace);
}

void add_flows(terminal::Options& to, FlowsOptions& options) {
  to.value("PATH", options.paths, "", "flow records: a folder, or files").required();
  constexpr auto kInput = "Input", kMethod = "Method", kOutput = "Output";
  to.value("--topology", options.topology, "FILE",
           "servers, their cards, switches, storage, as JSON\n"
           "(default: topology.json in a folder PATH)")
      .in_group(kInput);
  to.value("--sampled", options.sampled, "N", "the exporter saw one packet in N (default: all)")
      .in_group(kInput);
  to.value("--active", options.active, "S", "seconds after which the exporter cuts a record")
      .in_group(kInput);
  to.value("--inactive", options.inactive, "S",
           "seconds of silence that end a record (default:\n"
           "each transfer is a record)")
      .in_group(kInput);
  to.flag("--paper", options.paper, "the published rules to the letter, for comparison")
      .in_group(kMethod);
  to.value("-o,--output,--format", options.format, "text|json",
           "for people (default), or for programs")
      .in_group(kOutput)
      .one_of({"text", "json"});
  to.value("--out", options.out, "FILE", "write the report here and not to standard output")
      .in_group(kOutput);
  to.value("--trace", options.trace, "FILE",
           "also write the steps as a trace for Perfetto or\nchrome://tracing")
      .in_group(kOutput);
  to.value("--top", options.top, "N", "rows of each list in the text (default: 8)")
      .in_group(kOutput)
      .between(1, 1'000'000);
  to.flag("--exit-code", options.exit_code, "end with 10 if something was found").in_group(kOutput);
}

std::vector<std::string> names(const std::vector<std::filesystem::path>& files) {
  return {files.begin(), files.end()};
}

/// As for `l4 diagnose`: not twice to the same reader.
void write_warnings(const FlowInput& input, const FlowsOptions& options) {
  if (options.format == "text" && options.out.empty()) return;
  for (const Error& error : input.told)
    std::cerr << "l4: warning: " << serve::harmless(error.text()) << '\n';
  if (input.bad > input.told.size())
    std::cerr << "l4: and " << input.bad - input.told.size() << " more that could not be read\n";
}

int write(const l4::flows::FlowReport& report, const FlowInput& input,
          const FlowsOptions& options) {
  serve::TextStyle style = terminal::style_of_output();
  style.color = style.color && options.out.empty();
  style.top = options.top;
  const std::string text = options.format == "json"
                               ? to_json(report, options.paper ? "paper" : "l4")
                               : to_text(report, input, style);
  if (const int written = terminal::write_text(text, options.out, "l4"); written != terminal::kDone)
    return written;
  if (!options.trace.empty())
    if (const int written = terminal::write_text(to_trace(report), options.trace, "l4");
        written != terminal::kDone)
      return written;
  bool found = false;
  for (const auto& job : report.jobs) found = found || !job.findings.empty();
  return options.exit_code && found ? terminal::kFailureFound : terminal::kDone;
}

}  // namespace

terminal::Command flows_command() {
  return terminal::command<FlowsOptions>(
      "flows", "jobs, steps and faults out of network flow records", kFooter, add_flows, run_flows,
      [](const FlowsOptions& options) { return check_flows(options); });
}

int run_flows(const FlowsOptions& options) {
  auto files = decode::find_flow_files(options.paths);
  if (!files) return terminal::fail(files.error(), terminal::kNothingRead);
  const auto topology_file = options.topology.empty() ? files->topology : options.topology;
  l4::flows::Topology topology;
  if (!topology_file.empty()) {
    auto read = decode::read_topology(topology_file);
    if (!read) return terminal::fail(read.error(), terminal::kWrongUse);
    topology = std::move(*read);
  }
  auto settings = settings_of(options);
  if (!settings) return terminal::fail(settings.error(), terminal::kWrongUse);
  const bool is_told = settings->sampling > 0;
  if (!is_told) settings->sampling = 1;

  l4::flows::Analyser analyser(topology, {*settings});
  l4::flows::PaperRules paper(topology);
  const auto sink = [&](const l4::flows::FlowRecord& record) {
    if (options.paper)
      paper.add(record);
    else
      analyser.add(record);
  };
  if (const auto done = decode::read_flows(*files, sink); !done)
    return terminal::fail(done.error(), terminal::kNothingRead);
  if (files->counts.records == 0)
    return terminal::fail(files->counts.told.empty()
                              ? Error{options.paths.front().string(), "holds no flow record"}
                              : files->counts.told.front(),
                          terminal::kNothingRead);
  if (!is_told) analyser.announce(files->announced);
  const FlowInput input{names(files->read),    names(files->left_out), files->counts.bad,
                        files->counts.unknown, files->counts.told,     !topology.empty(),
                        analyser.sampling(),   options.paper};
  write_warnings(input, options);
  return write(options.paper ? paper.finish() : analyser.finish(), input, options);
}

}  // namespace l4::commands::flows
