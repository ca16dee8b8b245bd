#include "tools/fleet/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "tools/fleet/speech.h"

namespace l4::fleet {
namespace {

bool fits(Kind kind, const std::string& state) {
  switch (kind) {
    case Kind::crash:
      return state == "crashed";
    case Kind::stop:
    case Kind::hang:
      return state == "hung";
    case Kind::slow:
      return state == "slow";
    case Kind::lost:
      return state == "node_lost";
    case Kind::blind:
    case Kind::restart:
      break;
  }
  return false;
}

/// Processes or lines show where the fault began, except for a hang: it leaves no trace.
bool shows_node(Kind kind) {
  return kind != Kind::hang;
}

std::string wrong_with(const Fault& fault, const JobScript& job, const Limits& limits,
                       const Found& found, Millis after) {
  if (!fits(fault.kind, found.state)) return "its state is " + found.state;
  const std::string node = node_name(job, fault.node);
  if (shows_node(fault.kind) && found.first_node != node)
    return fmt::format("its first node is {}, not {}", found.first_node, node);
  if (after > Millis{limits.of(fault.kind) * 1000})
    return fmt::format("it came after {}", to_human(after));
  return {};
}

}  // namespace

std::size_t Judgement::missed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rulings, [](const Ruling& ruling) { return !ruling.wrong.empty(); }));
}

Judgement judge(const Script& script, const std::vector<JobPlan>& plans, TimeMs begin,
                std::int64_t until, const std::vector<Found>& found) {
  Judgement judgement;
  std::vector<bool> used(found.size());
  for (const Fault& fault : script.faults) {
    if (fault.job.empty() || fault.at + script.limits.of(fault.kind) > until) continue;
    const auto plan =
        std::ranges::find(plans, fault.job, [](const JobPlan& one) { return one.job().name; });
    L4_CHECK(plan != plans.end(), "a fault of job {}, which has no plan", fault.job);
    const std::int32_t attempt = plan->at(fault.at).attempt;
    const TimeMs struck = begin + Millis{fault.at * 1000};
    Ruling ruling;
    ruling.fault = &fault;
    ruling.wrong = "no incident";
    for (std::size_t i = 0; i < found.size(); ++i) {
      // One incident an attempt: a later fault of the same attempt opens it again.
      if (found[i].job != fault.job || found[i].attempt != attempt || found[i].opened < struck)
        continue;
      used[i] = true;
      ruling.found = found[i];
      ruling.after = found[i].opened - struck;
      ruling.wrong = wrong_with(fault, plan->job(), script.limits, found[i], ruling.after);
      if (ruling.wrong.empty()) break;
    }
    judgement.rulings.push_back(std::move(ruling));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool struck = std::ranges::any_of(script.faults, [&](const Fault& fault) {
      return fault.job == found[i].job && begin + Millis{fault.at * 1000} <= found[i].opened;
    });
    if (!used[i] && !struck) judgement.false_ones.push_back(found[i]);
  }
  return judgement;
}

}  // namespace l4::fleet
