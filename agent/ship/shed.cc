#include "agent/ship/shed.h"

#include <string>

namespace l4::ship {

using wire::Shedding;

Shedding shedding_at(double fill) {
  if (fill >= 0.95) return Shedding::counts;
  if (fill >= 0.80) return Shedding::parameters;
  if (fill >= 0.65) return Shedding::order;
  if (fill >= 0.50) return Shedding::examples;
  return Shedding::nothing;
}

bool shed(wire::Batch& batch, Shedding step, ShedFor reason, ShedCounts& counts) {
  if (step < Shedding::order) return false;  // examples are answers to questions, not in batches
  ShedCounts here;
  for (wire::Segment& segment : batch.segments) {
    here.order_runs += segment.order.size();
    segment.order_cut = segment.order_cut || !segment.order.empty();
    segment.order = {};
    if (step < Shedding::parameters) continue;
    here.parameter_tuples += segment.parameters.size();
    segment.parameters = {};
    if (step < Shedding::counts) continue;
    here.counts += segment.events.size();
    segment.events = {};
  }
  if (here.order_runs + here.parameter_tuples + here.counts == 0) return false;
  if (here.counts > 0)
    batch.warnings.push_back(
        {"shed",
         {},
         "counts of " + std::to_string(here.counts) + " templates were left out " +
             (reason == ShedFor::pressure ? "to keep up" : "of a batch that was too long"),
         0});
  counts.order_runs += here.order_runs;
  counts.parameter_tuples += here.parameter_tuples;
  counts.counts += here.counts;
  return true;
}

}  // namespace l4::ship
