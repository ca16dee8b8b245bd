#include "aggregator/scoring/network_job.h"

#include <fmt/format.h>

#include <algorithm>

namespace l4::scoring {
namespace {

using detect::network::Finding;
using detect::network::Network;
using detect::network::Trouble;

/// Where causes of this kind were found in simulations, they were right so often; what stopped is
/// told apart less surely.
constexpr double kSureSlow = 0.9, kSureStopped = 0.75;

State state_of(const Finding& finding) {
  if (!detect::network::is_stop(finding.trouble)) return State::slow;
  return finding.trouble == Trouble::crash ? State::crashed : State::hung;
}

/// The gravest that is open, the newest of those.
const Finding* gravest(const Network& network) {
  const Finding* found = nullptr;
  for (const Finding& finding : network.findings) {
    if (!detect::network::is_failure(finding)) continue;
    const bool stop = detect::network::is_stop(finding.trouble);
    if (found == nullptr || stop || !detect::network::is_stop(found->trouble)) found = &finding;
  }
  return found;
}

std::string text_of(const Finding& finding) {
  const std::string where = detect::network::where(finding);
  if (!detect::network::is_stop(finding.trouble))
    return fmt::format("The network shows {}{} since {}: {}.",
                       detect::network::text(finding.trouble), where, to_rfc3339(finding.since),
                       detect::network::extent(finding));
  return fmt::format("The network shows {}{}: no transfer since {}.",
                     detect::network::text(finding.trouble), where, to_rfc3339(finding.since));
}

void accuse(const Finding& finding, diagnose::Report& report) {
  double score = 1;
  for (const std::string& server : finding.servers) {
    diagnose::SuspectNode node;
    node.node = server;
    node.score = score;
    node.confidence = report.verdict.confidence / static_cast<double>(finding.servers.size());
    node.first_seen = finding.since;
    node.why.push_back(
        fmt::format("the network shows {} here", detect::network::text(finding.trouble)));
    report.nodes.push_back(std::move(node));
    score *= 0.9;
  }
}

diagnose::Notable notable_of(const Finding& finding) {
  diagnose::Notable notable;
  notable.kind = detect::network::is_stop(finding.trouble) ? "network_stopped" : "network_slow";
  notable.phase = std::string(detect::network::name(finding.trouble));
  if (!finding.servers.empty()) notable.node = finding.servers.front();
  notable.count = finding.steps;
  notable.text = text_of(finding);
  if (detect::network::is_stop(finding.trouble))
    notable.text += " It stopped between two steps, so it may have ended.";
  return notable;
}

}  // namespace

diagnose::Report report_of(const Network& network) {
  diagnose::Report report;
  report.job.id = network.job;
  report.job.nodes = network.servers.size();
  report.job.attempts.push_back({0, State::healthy, std::nullopt, std::nullopt});
  diagnose::Verdict& verdict = report.verdict;
  verdict.state = State::healthy;
  verdict.stage = Stage::training;
  verdict.confidence = kSureSlow;
  verdict.summary = fmt::format("Seen from the network alone: {} steps.", network.steps);
  const Finding* const worst = gravest(network);
  if (worst != nullptr) {
    verdict.state = state_of(*worst);
    verdict.since = worst->since;
    verdict.confidence = verdict.state == State::slow ? kSureSlow : kSureStopped;
    verdict.scope = worst->servers.size() == 1 ? Scope::node
                    : worst->servers.empty()   ? Scope::unknown
                                               : Scope::several;
    verdict.summary = text_of(*worst);
    accuse(*worst, report);
  }
  report.job.attempts.front().state = verdict.state;
  report.job.attempts.front().since = verdict.since;
  for (const Finding& finding : network.findings)
    if (finding.open && !detect::network::is_failure(finding))
      report.notable.push_back(notable_of(finding));
  return report;
}

IncidentBook::Changes NetworkJob::seen(const Network& network, TimeMs now) {
  last_ = report_of(network);
  const bool is_news = last_.verdict.state != State::healthy || book_.has_open();
  IncidentBook::Changes changes = is_news ? book_.diagnosed(last_, now) : IncidentBook::Changes();
  for (alert::Alert& alert : notices_.reported(last_, now))
    changes.alerts.push_back(std::move(alert));
  return changes;
}

IncidentBook::Changes NetworkJob::close(const std::string& why, TimeMs now) {
  IncidentBook::Changes changes;
  if (book_.has_open()) {
    last_.verdict.state = State::healthy;
    last_.verdict.summary = why;
    changes = book_.diagnosed(last_, now);
    for (alert::Alert& alert : changes.alerts) alert.summary = why;
  }
  for (alert::Alert& alert : notices_.close(why, now)) changes.alerts.push_back(std::move(alert));
  return changes;
}

}  // namespace l4::scoring
