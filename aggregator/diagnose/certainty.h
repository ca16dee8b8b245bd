// How sure the report is of its state, its first node and its first event, and what else may be so.
//
// Place in the flow: verdict.h decides, suspicion.h and report_builder.h put suspects and events in
// order; this finds the grounds of the three claims (state_grounds.cc, node_grounds.cc,
// event_grounds.cc), and clues/grounds.h makes probabilities of them. No order and no state depends
// on what is said here. Pure.
#pragma once

#include <vector>

#include "aggregator/diagnose/clues/grounds.h"
#include "aggregator/diagnose/report_builder.h"
#include "aggregator/diagnose/verdict.h"

namespace l4::diagnose {

namespace clues {
struct Scale;
}  // namespace clues

/// A fact that would make another state of the verdict if it were otherwise.
struct Doubt {
  Fact fact;
  State instead;
};
/// Facts that hold come first, then those that do not.
std::vector<Doubt> doubts_of(Facts known);

clues::Grounds state_grounds(const VerdictInput& input, Facts known);
/// Of the first node; needs one.
clues::Grounds node_grounds(const Built& built, State state);
/// Of the first event of the report; needs one.
clues::Grounds event_grounds(const Built& built, const Report& report);

/// Share of the job's ranks or bytes that the logs lack, whichever is more.
double missing_share(const job::JobView& view);

/// P(node is faulty) of nodes with these scores, best first: `first` of the first one; what is left
/// is shared by the others as their scores come near, and by "none of these".
std::vector<double> node_confidences(const std::vector<double>& scores, double first);

/// The row of certainty[] for the first node, whose confidence stands in the report already.
Certainty certainty_of_node(const clues::Grounds& grounds, const Report& report);

/// Fills certainty[] and the confidence of the verdict.
void say_how_sure(const VerdictInput& input, Facts known, const clues::Scale& scale,
                  Report& report);
/// Behind that: of the nodes and the first event, of lists that are in order.
void say_how_sure(const Built& built, const clues::Scale& scale, Report& report);

/// Names the evidence that would decide, where a claim is not sure.
void name_deciders(const job::JobView& view, Facts known, Report& report);

}  // namespace l4::diagnose
