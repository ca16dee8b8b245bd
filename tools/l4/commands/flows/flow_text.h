// What `l4 flows` found, as text for people: findings first, then each job.
//
// Flow: FlowReport -> one page. Pure. Texts from the topology file are made harmless by the page.
#pragma once

#include <string>
#include <vector>

#include "aggregator/flows/job_flows.h"
#include "aggregator/serve/report_text.h"
#include "common/base/error.h"

namespace l4::commands::flows {

/// What was read, and what could not be.
struct FlowInput {
  std::vector<std::string> files, left_out;
  std::uint64_t bad = 0, unknown = 0;
  std::vector<Error> told;
  bool has_topology = false;
  std::uint32_t sampling = 1;
  bool is_paper = false;
};

std::string to_text(const l4::flows::FlowReport& report, const FlowInput& input,
                    const serve::TextStyle& style);

}  // namespace l4::commands::flows
