// The published rules (LLMPrism, arXiv 2505.00342) as we read them, for comparison.
//
// Place in the flow: `l4 flows --paper` hands records here instead of to the analyser. Only the
// beginning of the paper could be read; the rest follows its summaries, so this is our reading:
// cards that exchange anything form a job, and jobs that share a server are one; a pair whose
// records have one size is PP, any other is DP, and DP is transitive; the steps of a card change
// where Bayesian online change-point detection sees a change in the intervals between its DP
// records; a step is slow if it is longer than k deviations above the mean (cross-step), and a
// switch if its mean bandwidth is as far below that of all (switch-level). One owner. Bounds: those
// of StreamTable for streams; all records of training cards are kept.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/topology.h"

namespace l4::flows {

class PaperRules {
 public:
  /// `topology` must outlive this.
  explicit PaperRules(const Topology& topology) : topology_(&topology) {}

  void add(const FlowRecord& record);
  FlowReport finish();

 private:
  struct Transfer {
    TimeNs start = 0, end = 0;
    std::uint64_t bytes = 0;
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // cards

  std::uint32_t card(const Address& address);
  std::vector<std::vector<std::uint32_t>> recognise() const;
  std::map<Pair, Label> identify() const;
  JobFlows reconstruct(const std::vector<std::uint32_t>& cards,
                       const std::map<Pair, Label>& labels) const;
  void diagnose(JobFlows& job, const std::map<Pair, Label>& labels) const;
  std::string slow_switch(const JobFlows& job, const std::map<Pair, Label>& labels, TimeNs from,
                          TimeNs to) const;

  const Topology* topology_;
  std::map<Address, std::uint32_t> numbers_;
  std::vector<Address> cards_;
  std::map<Pair, std::vector<Transfer>> pairs_;
  FlowReport report_;
};

/// Places at which the run of alike values most probably begins anew: Adams and MacKay 2007, with
/// normal values of unknown mean and variance, and one change in `every` values expected.
std::vector<std::size_t> change_points(const std::vector<double>& values, double every);

}  // namespace l4::flows
