// Why steps were slow, and where.
//
// Place in the flow: the slow steps of an incident and usual ones before -> Explainer -> cause and
// answer set. Slow transfers come first: of a group the time after everybody had arrived, of a
// pipeline stream seconds a byte; cards and switches are then excluded by the units that they touch
// and that are not slow. Else whoever came late. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/plan.h"
#include "aggregator/flows/step_facts.h"
#include "aggregator/flows/streams.h"

namespace l4::flows {

struct Explanation {
  Cause cause = Cause::slow_gpu;
  std::vector<std::string> place;
  bool ambiguous = false;
  double factor = 1;
};

using StepList = std::vector<const StepFacts*>;

class Explainer {
 public:
  Explainer(const JobPlan& plan, const StreamTable& table);

  /// What later steps are compared with.
  StepFacts facts_of(const JobStep& step);
  /// `is_over`: usual steps have followed since.
  Explanation explain(const StepList& slow, const StepList& before, bool is_over) const;

  /// Transfers that are slow against `before` in all of `steps`; none if there are none.
  std::optional<Explanation> slow_transfers(const StepList& steps, const StepList& before,
                                            double ratio_min) const;

  /// The link or switch that streams have in common which became slow, among those that were
  /// judged; none where fewer than two are slow, or where no place explains most of them.
  std::optional<Explanation> blame(const std::vector<std::uint32_t>& slow,
                                   const std::vector<std::uint32_t>& judged);

 private:
  /// A group or a pipeline stream, with what it touches.
  struct Unit {
    std::vector<std::uint32_t> cards, switches;  ///< switches as places in switches_
    bool is_pipe = false;
    std::uint32_t index = 0;  ///< of groups or pipes
  };
  /// Where values of StepFacts begin.
  struct Places {
    std::size_t seconds = 0, bytes = 0, services = 0, late = 0, wake = 0, all = 0;
  };
  /// A card of a group of three or more: who came late shows there.
  struct Seat {
    std::uint32_t group = 0, card = 0;
  };
  double value_of(const Unit& unit, const StepFacts& step) const;
  struct Slowness {
    double ratio = 1, seconds = 0;  ///< against before, and in a step
  };
  Slowness slowness(const Unit& unit, const StepList& steps, const StepList& before) const;
  bool is_slower(const Unit& unit, const StepList& steps, const StepList& before,
                 double ratio) const;
  std::optional<Explanation> eliminate(const std::vector<const Unit*>& slow,
                                       const std::vector<const Unit*>& judged) const;
  /// Servers that held the step up, the worst first; empty if none stands out.
  std::vector<std::uint32_t> late_servers(const StepFacts& step, const StepList& before,
                                          double excess) const;
  void put_lateness(const JobStep& step, StepFacts& facts);
  std::vector<double> service_ratios(const StepFacts& step, const StepList& before) const;
  bool begins_late(const StepFacts& step, const StepList& before, double excess) const;
  Unit unit_of(std::vector<std::uint32_t> cards);
  std::string name_of(std::uint32_t server) const;

  const JobPlan* plan_;
  const StreamTable* table_;
  Places at_;
  std::vector<Unit> units_;
  std::vector<std::string> switches_;
  std::vector<std::uint32_t> servers_;
  std::vector<std::vector<Seat>> seats_;  ///< of each server
  std::vector<float> late_;               ///< for a while, in put_lateness
};

}  // namespace l4::flows
