#include "aggregator/diagnose/report_builder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/diagnose/exit_evidence.h"
#include "aggregator/diagnose/findings/exits.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/share.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

namespace l4::diagnose {
namespace {

using detect::EventHint;
using detect::FailureEvent;
using detect::Severity;

bool is_cause(const Built& built, const FailureEvent& failure) {
  return !is_consequence(failure, built.findings.hints.events[failure.event]) &&
         failure.severity >= Severity::failure;
}

Process process_of(const job::RankView& rank) {
  if (rank.process == nullptr) return Process::unknown;
  switch (rank.process->state) {
    case wire::ProcessState::unknown:
      return Process::unknown;
    case wire::ProcessState::gone:
      return Process::gone;
    case wire::ProcessState::stopped:
    case wire::ProcessState::traced:
      return Process::stopped;
    default:
      return Process::alive;
  }
}

/// Score of an event, from its severity and its kind.
double score_of(const EventHint& hint, const FailureEvent& failure, bool root) {
  double score = failure.severity == Severity::fatal     ? numbers::diagnose().event_fatal
                 : failure.severity == Severity::failure ? numbers::diagnose().event_failure
                 : failure.severity == Severity::notice  ? numbers::diagnose().event_notice
                                                         : numbers::diagnose().event_quiet;
  const bool consequence = is_consequence(failure, hint) && !root;
  if (consequence)
    score -=
        failure.follows ? numbers::diagnose().event_follows : numbers::diagnose().event_consequence;
  if (hint.known_fault && !consequence)
    score += hint.general ? numbers::diagnose().event_general : numbers::diagnose().event_known;
  return score;
}

std::optional<Rank> rank_of(const job::JobView& view, std::uint32_t stream) {
  return view.ranks[view.streams[stream].rank].rank;
}

/// Another event begins on the line behind that of the event.
bool has_next_line(const Built& built, const FailureEvent& failure) {
  const job::JobView& view = built.findings.view;
  return std::ranges::any_of(built.findings.failures.events, [&](const FailureEvent& other) {
    return other.first_line == failure.first_line + 1 &&
           view.streams[other.first_stream].log() == view.streams[failure.first_stream].log();
  });
}

struct Reach {
  std::set<std::string> nodes;
  std::set<Rank> ranks;
  std::uint64_t count = 0;
  std::map<std::pair<wire::ParameterKind, std::string>, std::uint64_t> parameters;
};

Reach reach_of(const Built& built, const FailureEvent& failure) {
  const job::JobView& view = built.findings.view;
  const job::EventView& event = view.events[failure.event];
  Reach reach;
  for (const std::uint32_t i : failure.occurrences) {
    const job::Occurrence& occurrence = event.at[i];
    reach.nodes.insert(view.nodes[view.streams[occurrence.stream].node].name);
    if (const auto rank = rank_of(view, occurrence.stream)) reach.ranks.insert(*rank);
    reach.count += occurrence.stats.count;
  }
  for (const job::ParameterSeen& seen : event.parameters)
    for (const wire::Parameter& value : seen.values)
      reach.parameters[{value.kind, value.value}] += seen.count;
  return reach;
}

void add_why(const Built& built, const FailureEvent& failure, std::size_t on_nodes,
             IndicatingEvent& out) {
  const EventHint& hint = built.findings.hints.events[failure.event];
  if (!hint.in_pool) out.why.push_back(Why::fresh);
  if (job::is_few(on_nodes, built.findings.view.nodes.size())) out.why.push_back(Why::spatial);
  if (failure.first_time && failure.first_time == built.findings.failures.first_failure)
    out.why.push_back(Why::first);
  if (failure.severity == Severity::fatal) out.why.push_back(Why::fatal);
  if (hint.accuses_peer) out.why.push_back(Why::accused);
  if (hint.known_fault) out.why.push_back(Why::fault);
  if (hint.waited) out.why.push_back(Why::stall);
}

/// Where an outsider is, as far as lines tell; empty: only its rank is known.
const std::string& node_of(const Built& built, const detect::Outsider& outsider) {
  return outsider.home ? built.findings.view.nodes[*outsider.home].name : outsider.node;
}

/// The outsider that stands behind `known` nodes or ranks in an order; null for one of these.
const detect::Outsider* outsider_of(const Built& built, std::uint32_t index, std::size_t known) {
  return index < known ? nullptr : &built.findings.hints.outsiders[index - known];
}

EventScope scope_of_event(const Built& built, const FailureEvent& failure, double score) {
  const job::JobView& view = built.findings.view;
  const job::EventView& event = view.events[failure.event];
  EventScope scope{event.id, score, std::nullopt, {}};
  for (const std::uint32_t i : failure.occurrences) {
    const job::StreamView& stream = view.streams[event.at[i].stream];
    for (const auto& [local, stats] : stream.state->events)
      if (view.state->templates().resolve(stream.agent->node_index, LocalTemplateId{local}) ==
          event.id)
        scope.streams.push_back(
            {stream.agent->name, stream.state->source.id, LocalTemplateId{local}});
  }
  std::ranges::sort(scope.streams, [](const auto& a, const auto& b) {
    return std::tie(a.agent, a.source, a.local) < std::tie(b.agent, b.source, b.local);
  });
  return scope;
}

struct Listed {
  IndicatingEvent event;
  EventScope scope;
  Severity severity;
  bool wraps = false;      ///< says only that something failed, and its next line what
  bool lost_peer = false;  ///< a root although it only tells of what befell another
};

/// Of the lines about a lost peer that lead, the first counts most, however badly those end that
/// print the others.
void raise_first_report(std::vector<Listed>& listed) {
  const auto first = std::ranges::find(listed, true, &Listed::lost_peer);
  for (auto other = first; other != listed.end(); ++other)
    if (other->lost_peer)
      first->event.score = first->scope.score = std::max(first->event.score, other->event.score);
}

/// Roots first, then what else failed, then consequences. Where all is consequence, the first of
/// them is the nearest to what nobody says; wrappers, and lines that only were new, stand behind
/// them.
void sort_events(std::vector<Listed>& listed) {
  const auto is_quiet = [](const Listed& one) {
    return one.event.role == Role::direct && one.severity < Severity::failure;
  };
  const bool caused = std::ranges::any_of(listed, [&](const Listed& one) {
    return one.event.role != Role::consequence && !is_quiet(one);
  });
  std::ranges::stable_sort(listed, {}, [&](const Listed& one) {
    const bool quiet = !caused && is_quiet(one);
    return std::tuple(quiet, one.event.role, !caused && one.wraps, caused ? -one.event.score : 0.0);
  });
  for (std::size_t i = 1; !caused && i < listed.size(); ++i)  // scores of a role fall
    if (listed[i].event.role == listed[i - 1].event.role)
      listed[i].event.score = listed[i].scope.score =
          std::min(listed[i].event.score, listed[i - 1].event.score);
}

struct SeenFault {
  const faults::Fault* fault;
  std::vector<TemplateId> evidence;
  double confidence = 0;
};

SeenFault& entry_of(std::vector<SeenFault>& seen, const faults::Fault* fault) {
  const auto known = std::ranges::find(seen, fault, &SeenFault::fault);
  return known != seen.end() ? *known : seen.emplace_back(fault);
}

/// A line that gives the reason of the exit says more than the exit itself. Evidence of the exit
/// precedes other faults of its own line.
void add_struck(const IndicatingEvent& exit, const faults::Library& library,
                std::vector<SeenFault>& seen) {
  const auto matched = library.match(exit.text, parameters_of(exit));
  if (matched.empty()) return;
  double confidence = numbers::diagnose().fault_struck;
  for (const SeenFault& other : seen)
    if (std::ranges::find(matched, other.fault) != matched.end())
      confidence = std::max(confidence, other.confidence);
  SeenFault& entry = entry_of(seen, matched.front());
  entry.confidence = std::max(entry.confidence, confidence);
}

/// A clue with the names that people know.
Clue named(const Built& built, const WeighedClue& weighed) {
  const job::JobView& view = built.findings.view;
  const clues::Clue& clue = weighed.clue;
  Clue out{clue.kind, {}, {}, weighed.adds, {}, clues::sentence(clue.kind, clue.facts)};
  switch (clue.whose) {
    case clues::Whose::rank:
      out.node = view.nodes[view.ranks[clue.index].node].name;
      out.rank = view.ranks[clue.index].rank;
      break;
    case clues::Whose::node:
      out.node = view.nodes[clue.index].name;
      break;
    case clues::Whose::outsider: {
      const detect::Outsider& outsider = built.findings.hints.outsiders[clue.index];
      if (const std::string& node = node_of(built, outsider); !node.empty()) out.node = node;
      out.rank = outsider.rank;
      break;
    }
  }
  for (const clues::Fact& fact : clue.facts) out.facts.push_back({fact.kind, clues::text(fact)});
  return out;
}

/// Events of the most suspicious node. If it shows no cause itself, what is known of it stands in
/// the logs of those who name it.
std::set<std::uint32_t> events_of_first(const Built& built) {
  const auto& order = built.suspects.node_order;
  if (order.empty()) return {};
  const job::JobView& view = built.findings.view;
  const Suspicion& first = built.suspects.node(order.front());
  std::set<std::uint32_t> events(first.events.begin(), first.events.end());
  std::set<std::uint32_t> of_others;
  for (const FailureEvent& failure : built.findings.failures.events) {
    if (!is_cause(built, failure) || !events.contains(failure.event)) continue;
    for (const std::uint32_t i : failure.occurrences) {
      const std::uint32_t node = view.streams[view.events[failure.event].at[i].stream].node;
      if (node == order.front()) return events;
      const auto& said = built.suspects.nodes[node].events;
      of_others.insert(said.begin(), said.end());
    }
  }
  events.merge(of_others);
  return events;
}

/// A signal from outside ended the process of the first suspect.
bool is_first_struck(const Built& built) {
  const auto& order = built.suspects.rank_order;
  const auto& ranks = built.findings.view.ranks;
  if (order.empty() || order.front() >= ranks.size()) return false;
  const wire::ProcessFact* process = ranks[order.front()].process;
  return process != nullptr && process->state == wire::ProcessState::gone &&
         is_struck(process->exit);
}

/// Lines about a peer that is gone or silent lead while nothing that is known, or fatal, is a
/// cause, nor a process that was seen to be ended from outside.
void add_lost_peers(const Built& built, std::set<std::uint32_t>& roots) {
  const auto& failures = built.findings.failures.events;
  const auto& hints = built.findings.hints.events;
  const bool caused = std::ranges::any_of(failures, [&](const FailureEvent& failure) {
    return roots.contains(failure.event) &&
           (hints[failure.event].known_fault || failure.severity == Severity::fatal);
  });
  if (caused || is_first_struck(built)) return;
  for (const FailureEvent& failure : failures) {
    const EventHint& hint = hints[failure.event];
    if (hint.known_fault && hint.accuses_peer && failure.severity >= Severity::failure)
      roots.insert(failure.event);
  }
}

/// Causes on the most suspicious node are roots; without any, lines about a lost peer are.
std::set<std::uint32_t> root_events(const Built& built) {
  std::set<std::uint32_t> roots;
  const auto& failures = built.findings.failures.events;
  const auto of_first = events_of_first(built);
  for (const FailureEvent& failure : failures)
    if (is_cause(built, failure) && of_first.contains(failure.event)) roots.insert(failure.event);
  if (roots.empty())
    for (const FailureEvent& failure : failures)
      if (is_cause(built, failure)) roots.insert(failure.event);
  add_lost_peers(built, roots);
  // Where nothing failed before the processes were gone, what shows that they are gone leads.
  if (roots.empty() && !built.findings.failures.fatal)
    for (const FailureEvent& sign : built.findings.endings.signs)
      if (std::ranges::any_of(failures, [&](const FailureEvent& failure) {
            return failure.event == sign.event && failure.severity >= Severity::failure;
          }))
        roots.insert(sign.event);
  return roots;
}

}  // namespace

void build_job(const job::JobView& view, JobSummary& job) {
  job.attempt = view.attempt;
  job.nodes = view.nodes.size();
  job.ranks = view.training_ranks();
  job.sources = view.streams.size();
  job.lines = 0;
  for (const wire::Coverage& coverage : view.state->coverage()) job.lines += coverage.lines;
  job.bytes = view.bytes;
  job.begin = view.begin;
  job.end = view.end;
  job.completeness = view.bytes_known == 0
                         ? 1.0
                         : static_cast<double>(view.bytes) / static_cast<double>(view.bytes_known);
}

void build_nodes(const Built& built, Report& report) {
  const job::JobView& view = built.findings.view;
  for (const std::uint32_t index : built.suspects.node_order) {
    const Suspicion& suspicion = built.suspects.node(index);
    SuspectNode node;
    node.score = suspicion.score;
    if (!built.suspects.node_confidence.empty())
      node.confidence = built.suspects.node_confidence[index];
    if (const detect::Outsider* outsider = outsider_of(built, index, view.nodes.size())) {
      node.node = outsider->node;
      if (outsider->rank) node.ranks.push_back(*outsider->rank);
    } else {
      node.node = view.nodes[index].name;
      std::vector<std::pair<double, Rank>> ranks;
      for (const std::uint32_t rank : view.nodes[index].ranks)
        if (view.ranks[rank].rank && built.suspects.ranks[rank].score > 0)
          ranks.emplace_back(-built.suspects.ranks[rank].score, *view.ranks[rank].rank);
      for (std::size_t i = 0; i < built.findings.hints.outsiders.size(); ++i)
        if (const detect::Outsider& one = built.findings.hints.outsiders[i];
            one.home == index && one.rank && built.suspects.outsiders[i].score > 0)
          ranks.emplace_back(-built.suspects.outsiders[i].score, *one.rank);
      std::ranges::sort(ranks);
      for (const auto& [score, rank] : ranks) node.ranks.push_back(rank);
    }
    node.first_seen = suspicion.first_seen;
    node.why = suspicion.why;
    for (const std::uint32_t event : suspicion.events) node.events.push_back(view.events[event].id);
    report.nodes.push_back(std::move(node));
  }
}

void build_clues(const Built& built, Report& report) {
  std::vector<const WeighedClue*> order;
  for (const WeighedClue& clue : built.suspects.clues)
    if (clue.adds > 0) order.push_back(&clue);
  std::ranges::stable_sort(order, std::greater<>{}, &WeighedClue::adds);
  if (order.size() > kCluesMax) order.resize(kCluesMax);
  for (const WeighedClue* const clue : order) report.clues.push_back(named(built, *clue));
}

void build_ranks(const Built& built, Report& report) {
  const job::JobView& view = built.findings.view;
  for (const std::uint32_t index : built.suspects.rank_order) {
    SuspectRank rank;
    rank.score = built.suspects.rank(index).score;
    rank.why = built.suspects.rank(index).why;
    if (const detect::Outsider* outsider = outsider_of(built, index, view.ranks.size())) {
      rank.rank = outsider->rank;
      rank.rank_source = RankSource::line;
      rank.node = node_of(built, *outsider);
    } else {
      const job::RankView& known = view.ranks[index];
      rank.rank = known.rank;
      rank.rank_source = known.rank_source;
      rank.node = view.nodes[known.node].name;
      rank.last_line = known.end;
      rank.process = process_of(known);
    }
    report.ranks.push_back(std::move(rank));
  }
}

void build_events(const Built& built, Diagnosis& diagnosis) {
  const job::JobView& view = built.findings.view;
  const auto roots = root_events(built);
  std::vector<Listed> listed;
  for (const FailureEvent& failure : built.findings.failures.events) {
    const job::EventView& event = view.events[failure.event];
    const EventHint& hint = built.findings.hints.events[failure.event];
    const Reach reach = reach_of(built, failure);
    IndicatingEvent out;
    out.id = event.id;
    out.text = event.text;
    out.role = roots.contains(failure.event)   ? Role::root
               : is_consequence(failure, hint) ? Role::consequence
                                               : Role::direct;
    out.score = score_of(hint, failure, out.role == Role::root) +
                (out.role == Role::root ? numbers::diagnose().event_root : 0.0);
    out.count = reach.count;
    out.nodes.assign(reach.nodes.begin(), reach.nodes.end());
    out.ranks.assign(reach.ranks.begin(), reach.ranks.end());
    out.first = {failure.first_time, view.nodes[view.streams[failure.first_stream].node].name,
                 rank_of(view, failure.first_stream)};
    const auto first = std::ranges::find(event.at, failure.first_stream, &job::Occurrence::stream);
    if (first != event.at.end()) {
      out.stage = first->stats.first_stage;
      if (const auto& iteration = first->stats.first_iteration)
        out.iteration = view.streams[failure.first_stream].state->printed(*iteration);
    }
    out.level = event.level;
    add_why(built, failure, reach.nodes.size(), out);
    for (const auto& [key, count] : reach.parameters)
      out.parameters.push_back({key.first, key.second, count});
    std::ranges::stable_sort(out.parameters, std::greater<>{}, &ParameterCount::count);
    EventScope scope = scope_of_event(built, failure, out.score);
    const bool wraps = hint.general && has_next_line(built, failure);
    const bool lost_peer = out.role == Role::root && is_consequence(failure, hint);
    listed.push_back({std::move(out), std::move(scope), failure.severity, wraps, lost_peer});
  }
  raise_first_report(listed);
  sort_events(listed);
  for (Listed& one : listed) {
    diagnosis.report.events.push_back(std::move(one.event));
    diagnosis.scopes.push_back(std::move(one.scope));
  }
}

void build_iterations(const Built& built, Report& report) {
  const job::JobView& view = built.findings.view;
  if (!built.findings.temporal || built.findings.clock.counted) return;
  std::map<std::int64_t, ScoredIteration> scored;
  for (const detect::temporal::Anomaly& alarm : built.findings.temporal->alarms) {
    if (alarm.stream == detect::temporal::kAllStreams) continue;
    ScoredIteration& one = scored[alarm.iteration];
    one.iteration = Iteration{alarm.iteration};
    one.score = std::max(one.score, alarm.score);
    const job::StreamView& stream = view.streams[built.findings.sequences.streams[alarm.stream]];
    const std::string& node = view.nodes[stream.node].name;
    if (std::ranges::find(one.nodes, node) == one.nodes.end()) one.nodes.push_back(node);
    for (const auto* events : {&alarm.missing, &alarm.extra})
      for (const std::uint32_t event : *events)
        if (std::ranges::find(one.events, view.events[event].id) == one.events.end())
          one.events.push_back(view.events[event].id);
  }
  for (auto& [number, one] : scored) {
    const auto tick = std::ranges::lower_bound(built.findings.clock.ticks, one.iteration, {},
                                               &job::ClockTick::iteration);
    if (tick != built.findings.clock.ticks.end() && tick->iteration == one.iteration) {
      one.begin = tick->first_done;
      one.end = tick->last_done;
    }
    one.iteration = job::printed(view, one.iteration);
    report.iterations.push_back(std::move(one));
  }
  std::ranges::sort(report.iterations, [](const ScoredIteration& a, const ScoredIteration& b) {
    return std::tie(b.score, a.iteration) < std::tie(a.score, b.iteration);
  });
}

void build_stages(const Built& built, Report& report) {
  for (const detect::stage::Span& span : built.findings.stages.spans)
    report.stages.push_back({span.stage, span.begin, span.end, span.ranks});
}

void build_faults(const Built& built, const faults::Library* library, Report& report) {
  std::vector<SeenFault> seen;  // in the order of the events, most telling first
  for (std::size_t i = 0; i < report.events.size(); ++i) {
    const IndicatingEvent& event = report.events[i];
    const auto index =
        std::ranges::lower_bound(built.findings.view.events, event.id, {}, &job::EventView::id) -
        built.findings.view.events.begin();
    const auto& matched = built.findings.hints.faults[static_cast<std::size_t>(index)];
    if (matched.empty()) continue;
    SeenFault& entry = entry_of(seen, matched.front());
    entry.evidence.push_back(event.id);
    const double role = event.role == Role::root     ? numbers::diagnose().fault_root
                        : event.role == Role::direct ? numbers::diagnose().fault_direct
                                                     : numbers::diagnose().fault_echo;
    entry.confidence = std::max(entry.confidence, role);
  }
  if (const auto exit = library == nullptr ? std::nullopt : struck(report))
    add_struck(exit->event, *library, seen);
  std::ranges::stable_partition(
      seen, [](const SeenFault& entry) { return entry.fault->confirmed.has_value(); });
  for (const SeenFault& entry : seen)  // with equal confidence confirmed ones come first
    report.faults.push_back(
        {entry.fault->id, entry.fault->title,
         std::string(faults::name(entry.fault->category)) + "/" + entry.fault->subcategory,
         entry.fault->consequence ? entry.confidence * numbers::diagnose().fault_consequence
                                  : entry.confidence,
         entry.fault->cause, entry.fault->fix, entry.evidence, entry.fault->stopped_by});
  std::ranges::stable_sort(report.faults, std::greater<>{}, &KnownFault::confidence);
}

namespace {

/// The first suspect is a rank that only others name, of an unknown node.
bool leads_without_node(const Built& built) {
  const auto& ranks = built.suspects.rank_order;
  if (ranks.empty()) return false;
  const auto* outsider = outsider_of(built, ranks.front(), built.findings.view.ranks.size());
  if (outsider == nullptr || !node_of(built, *outsider).empty()) return false;
  const auto& nodes = built.suspects.node_order;
  return nodes.empty() ||
         built.suspects.rank(ranks.front()).score > built.suspects.node(nodes.front()).score;
}

}  // namespace

Scope scope_of(const Built& built) {
  const auto& order = built.suspects.node_order;
  const std::size_t nodes = built.findings.view.nodes.size();
  if (leads_without_node(built)) return Scope::rank;
  if (order.empty()) return Scope::unknown;
  const double best = built.suspects.node(order.front()).score;
  const auto alike = static_cast<std::size_t>(std::ranges::count_if(order, [&](std::uint32_t node) {
    return built.suspects.node(node).score > numbers::diagnose().scope_alike * best;
  }));
  if (alike * 3 > std::max(nodes, order.size()) * 2 && nodes > 1) return Scope::all;
  if (alike > 1) return Scope::several;
  if (best < numbers::diagnose().scope_score_min) return Scope::unknown;
  if (const auto* outsider = outsider_of(built, order.front(), nodes))
    return outsider->rank ? Scope::rank : Scope::node;
  const auto& rank_order = built.suspects.rank_order;
  const auto* named =
      rank_order.empty() ? nullptr
                         : outsider_of(built, rank_order.front(), built.findings.view.ranks.size());
  if (named != nullptr && named->home == order.front()) return Scope::rank;
  const auto& ranks = built.findings.view.nodes[order.front()].ranks;
  const auto suspicious = std::ranges::count_if(ranks, [&](std::uint32_t rank) {
    return !built.findings.view.ranks[rank].launcher &&
           built.suspects.ranks[rank].score > numbers::diagnose().scope_alike * best;
  });
  return suspicious == 1 ? Scope::rank : Scope::node;
}

namespace {

/// Most frequent known stage of some ranks; `startup`: of a start-up.
Stage vote(const Built& built, const std::vector<std::uint32_t>& ranks, bool startup) {
  std::map<Stage, std::size_t> votes;
  for (const std::uint32_t rank : ranks) {
    const Stage stage = built.findings.stages.last_of_rank[rank];
    if (stage != Stage::unknown && (!startup || is_startup(stage))) ++votes[stage];
  }
  Stage best = Stage::unknown;
  std::size_t most = 0;
  for (const auto& [stage, count] : votes)
    if (count > most) {
      best = stage;
      most = count;
    }
  return best;
}

/// A job that fails behind its last iteration fails in its last save, unless it says otherwise.
Stage behind_last(const Built& built, Stage stage) {
  return stage == Stage::training && built.findings.endings.complete ? Stage::checkpoint_save
                                                                     : stage;
}

/// A save or an evaluation in which most lines of a root stand: their stack may say so where their
/// ranks' last stage is training.
std::optional<Stage> stage_of_roots(const Built& built) {
  const job::JobView& view = built.findings.view;
  const auto roots = root_events(built);
  for (const FailureEvent& failure : built.findings.failures.events) {
    if (!roots.contains(failure.event)) continue;
    std::map<Stage, std::size_t> stages;
    for (const std::uint32_t i : failure.occurrences)
      ++stages[view.events[failure.event].at[i].stats.first_stage];
    for (const Stage stage : {Stage::checkpoint_save, Stage::evaluation})
      if (2 * stages[stage] > failure.occurrences.size()) return stage;
  }
  return std::nullopt;
}

}  // namespace

Stage stage_of(const Built& built, bool launching) {
  const bool trained = built.findings.clock.has_iterations() && !launching;
  if (trained && !built.findings.slowdown.found)
    if (const auto stage = stage_of_roots(built)) return *stage;
  // The stage in which the first suspect stopped, or another rank of its node, unless their own
  // lines show only the start.
  std::optional<std::uint32_t> node;
  for (const std::uint32_t rank : built.suspects.rank_order) {
    if (rank >= built.findings.view.ranks.size()) continue;  // an outsider
    if (node.value_or(built.findings.view.ranks[rank].node) != built.findings.view.ranks[rank].node)
      break;
    const Stage stage = built.findings.stages.last_of_rank[rank];
    if (built.findings.view.ranks[rank].launcher || stage == Stage::unknown) continue;
    if (launching && !is_startup(stage)) continue;
    if (!trained || !is_startup(stage)) return behind_last(built, stage);
    node = built.findings.view.ranks[rank].node;
  }
  if (trained) {
    const Stage stage = vote(built, built.findings.clock.dense_ranks, false);
    return behind_last(built,
                       stage == Stage::unknown || is_startup(stage) ? Stage::training : stage);
  }
  std::vector<std::uint32_t> all(built.findings.view.ranks.size());
  std::iota(all.begin(), all.end(), 0u);
  return vote(built, all, launching);
}

}  // namespace l4::diagnose
