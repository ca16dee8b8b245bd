#include "aggregator/confirm/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "aggregator/serve/json_text.h"

namespace l4::confirm {
namespace {

using diagnose::Certainty;
using diagnose::Report;

constexpr std::array kStates{State::healthy,       State::finished, State::crashed,
                             State::hung,          State::slow,     State::node_lost,
                             State::launch_failed, State::unknown};

std::vector<std::string> nodes_of(const Report& report, const Truth& truth) {
  if (!truth.nodes.empty() || !truth.rank) return truth.nodes;
  std::vector<std::string> nodes;
  for (const diagnose::SuspectRank& rank : report.ranks)
    if (rank.rank && rank.rank->value() == *truth.rank) nodes.push_back(rank.node);
  return nodes;
}

/// Whether the claim was right; none: the truth does not say.
std::optional<bool> is_right(const Certainty& claim, const Report& report, const Truth& truth) {
  switch (claim.of) {
    case diagnose::clues::Claim::state:
      if (truth.state.empty()) return std::nullopt;
      return claim.name == truth.state;
    case diagnose::clues::Claim::node: {
      const auto nodes = nodes_of(report, truth);
      // Of a job on one node there is nothing to find.
      if (nodes.empty() || report.job.nodes < 2) return std::nullopt;
      return std::ranges::find(nodes, claim.name) != nodes.end();
    }
    case diagnose::clues::Claim::event:
      break;
  }
  if (truth.template_id.empty()) return std::nullopt;
  return claim.name == truth.template_id;
}

void write_claim(serve::JsonWriter& to, const Certainty& claim, bool right) {
  to.open('{').member("of", name(claim.of)).member("name", claim.name);
  to.member("confidence", claim.confidence).member("right", right).key("grounds").open('[');
  for (const diagnose::ClaimGround& ground : claim.grounds)
    to.open('{').member("kind", ground.kind).member("value", ground.value).close('}');
  to.close(']').close('}');
}

std::string claims_of(const Report& report, const Truth& truth) {
  serve::JsonWriter text;
  text.open('[');
  for (const Certainty& claim : report.certainty)
    if (const auto right = is_right(claim, report, truth)) write_claim(text, claim, *right);
  return text.close(']').release();
}

std::string truth_json(const Truth& truth) {
  serve::JsonWriter text;
  text.open('{');
  if (!truth.state.empty()) text.member("state", truth.state);
  if (!truth.nodes.empty()) text.member("nodes", truth.nodes);
  if (truth.rank) text.member("rank", *truth.rank);
  if (!truth.template_id.empty()) text.member("template", truth.template_id);
  if (!truth.fault.empty()) text.member("fault", truth.fault);
  return text.close('}').release();
}

}  // namespace

std::string unknown_state(const std::string& state) {
  std::string known;
  for (const State one : kStates) {
    if (name(one) == state) return {};
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(one));
  }
  return known;
}

store::Label label_of(const store::Incident& incident, const Report& report, const Truth& truth,
                      const std::string& who, TimeMs now) {
  std::string source = "job " + incident.job;
  if (!truth.fault.empty())
    source = "fault " + truth.fault;
  else if (!report.faults.empty())
    source = "fault " + report.faults.front().id;
  return {incident.id, incident.job, source, truth_json(truth), claims_of(report, truth), who, now};
}

std::optional<store::Label> label_of_outcome(const store::Outcome& outcome, const Report& report) {
  const State state = report.verdict.state;
  if (state != State::finished && state != State::healthy) return std::nullopt;
  Truth truth;
  // A job that ended well had run well: both claims hold.
  truth.state = outcome.outcome == "success" ? std::string(name(state)) : outcome.outcome;
  store::Label label;
  label.subject = "job " + outcome.job;
  label.job = outcome.job;
  label.source = label.subject;
  label.truth = truth_json(truth);
  label.claims = claims_of(report, truth);
  label.who = outcome.who;
  label.told = outcome.told;
  return label;
}

}  // namespace l4::confirm
