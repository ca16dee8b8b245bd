#include "tools/l4/commands/flows/seen_network.h"

#include <fmt/format.h>

#include <utility>

#include "aggregator/collect/network_facts.h"
#include "aggregator/detect/network/servers.h"
#include "aggregator/flows/analyser.h"
#include "aggregator/flows/decode/flow_files.h"
#include "aggregator/flows/decode/topology_file.h"
#include "aggregator/numbers/network.h"

namespace l4::commands::flows {
namespace {

namespace decode = l4::flows::decode;

void warn_of_input(const decode::FlowFiles& files, std::vector<wire::Warning>& warnings) {
  for (const Error& told : files.counts.told)
    warnings.push_back({"flows", told.where, told.reason, 0});
  if (files.counts.bad > files.counts.told.size())
    warnings.push_back({"flows", "",
                        fmt::format("{} more records that could not be read",
                                    files.counts.bad - files.counts.told.size()),
                        0});
}

}  // namespace

Result<std::optional<detect::network::Network>> see_network(
    const std::vector<std::filesystem::path>& flows, std::filesystem::path topology,
    const job::JobState& state, std::vector<wire::Warning>& warnings) {
  if (flows.empty()) return std::optional<detect::network::Network>();
  auto files = decode::find_flow_files(flows);
  if (!files) return std::unexpected(files.error());
  if (topology.empty()) topology = files->topology;
  l4::flows::Topology known;
  if (!topology.empty()) {
    auto read = decode::read_topology(topology);
    if (!read) return std::unexpected(read.error());
    known = std::move(*read);
  }
  l4::flows::Analyser analyser(known, {});
  const auto done = decode::read_flows(
      *files, [&](const l4::flows::FlowRecord& record) { analyser.add(record); });
  if (!done) return std::unexpected(done.error());
  if (files->counts.records == 0)
    return std::unexpected(Error{flows.front().string(), "holds no flow record"});
  analyser.announce(files->announced);
  warn_of_input(*files, warnings);
  const l4::flows::FlowReport report = analyser.finish();
  const detect::network::LogNodes nodes(state);
  std::optional<detect::network::Network> best;
  double most = 0;
  for (const l4::flows::JobFlows& job : report.jobs) {
    auto network = collect::network_of(job, known, report.last, job.steps.size());
    const double share = detect::network::share_of_servers(network, nodes);
    if (share <= most) continue;
    most = share;
    best = std::move(network);
  }
  if (most > numbers::network().node_share) return best;
  warnings.push_back({"flows", flows.front().string(),
                      fmt::format("none of the {} jobs of the flow records runs on the nodes of "
                                  "the logs",
                                  report.jobs.size()),
                      0});
  return std::optional<detect::network::Network>();
}

}  // namespace l4::commands::flows
