// `l4 flows`: jobs, parallelism, steps and faults out of network flow records alone.
//
// Flow: paths -> decode::read_flows -> flows::Analyser -> text, JSON (schema l4.flows/1) and a
// trace. Nothing of the jobs' logs is needed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/terminal/command.h"

namespace l4::commands::flows {

struct FlowsOptions {
  std::vector<std::filesystem::path> paths;
  std::filesystem::path topology;  ///< empty: topology.json of a folder, if it has one
  std::string sampled, active, inactive;
  std::string format = "text";
  std::filesystem::path out, trace;
  bool paper = false;
  bool exit_code = false;
  unsigned top = 8;
};

terminal::Command flows_command();

/// Exit status: 0 read; 2 wrong use; 3 nothing could be read; 10 with --exit-code: a finding.
int run_flows(const FlowsOptions& options);

}  // namespace l4::commands::flows
