#include "aggregator/collect/network_facts.h"

#include <algorithm>
#include <map>
#include <string>

#include "aggregator/flows/address.h"

namespace l4::collect {
namespace {

using detect::network::Finding;
using detect::network::Network;
using detect::network::Server;
using detect::network::Trouble;

TimeMs milliseconds(flows::TimeNs time) {
  return TimeMs{Millis{time / flows::kMillisecond}};
}

Trouble trouble_of(flows::Cause cause) {
  switch (cause) {
    case flows::Cause::slow_gpu:
      return Trouble::slow_server;
    case flows::Cause::imbalance:
      return Trouble::imbalance;
    case flows::Cause::degraded_link:
      return Trouble::slow_link;
    case flows::Cause::congested_switch:
      return Trouble::slow_switch;
    case flows::Cause::pause:
      return Trouble::pause;
    case flows::Cause::data_stall:
      return Trouble::data_stall;
    case flows::Cause::hang:
      return Trouble::hang;
    case flows::Cause::crash:
      return Trouble::crash;
    case flows::Cause::stopped:
      break;
  }
  return Trouble::stopped;
}

std::vector<Server> servers_of(const flows::JobFlows& job, const flows::Topology& topology) {
  std::map<std::string, Server> servers;
  for (const flows::Address& card : job.cards) {
    const std::string address = flows::to_text(card);
    const flows::Topology::Card* const known = topology.card(card);
    const std::string name = known != nullptr && known->server != flows::kNone
                                 ? topology.servers()[known->server]
                                 : address;
    Server& server = servers[name];
    server.name = name;
    server.addresses.push_back(address);
    const auto sign = job.signs.find(card);
    if (sign == job.signs.end() || sign->second == 0) continue;
    const TimeMs last = milliseconds(sign->second);
    if (!server.last || *server.last < last) server.last = last;
  }
  std::vector<Server> all;
  all.reserve(servers.size());
  for (auto& [name, server] : servers) all.push_back(std::move(server));
  return all;
}

Finding finding_of(const flows::FlowFinding& told, const std::vector<Server>& servers) {
  Finding finding;
  finding.trouble = trouble_of(told.cause);
  finding.since = milliseconds(told.since);
  finding.told = milliseconds(told.at);
  finding.ambiguous = told.ambiguous;
  finding.factor = told.factor;
  finding.steps = told.steps;
  finding.open = told.open;
  finding.in_step = told.in_step;
  finding.places = told.place;
  for (const std::string& place : told.place) {
    const auto server = std::ranges::find_if(servers, [&](const Server& one) {
      return one.name == place || std::ranges::find(one.addresses, place) != one.addresses.end();
    });
    if (server != servers.end()) finding.servers.push_back(server->name);
  }
  return finding;
}

}  // namespace

Network network_of(const flows::JobFlows& job, const flows::Topology& topology, flows::TimeNs now,
                   std::uint64_t steps) {
  Network network;
  network.job = job.name;
  network.now = milliseconds(now);
  if (job.last != 0) network.last = milliseconds(job.last);
  if (!job.steps.empty()) network.step = milliseconds(job.steps.back().second);
  network.steps = steps;
  network.period = Millis{job.period / flows::kMillisecond};
  network.deadline = Millis{job.deadline / flows::kMillisecond};
  if (job.stored != 0) network.stored = milliseconds(job.stored);
  network.servers = servers_of(job, topology);
  for (const flows::FlowFinding& finding : job.findings)
    network.findings.push_back(finding_of(finding, network.servers));
  return network;
}

}  // namespace l4::collect
