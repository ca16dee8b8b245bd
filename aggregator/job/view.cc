#include "aggregator/job/view.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "aggregator/job/attempts.h"
#include "aggregator/job/job_span.h"
#include "aggregator/job/rank_processes.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::job {
namespace {

using RankKey = std::tuple<std::string, bool, std::int32_t, std::int32_t, std::string>;

/// A rank with a known number gives the numbers of the node's other ranks (rank - local rank).
std::map<std::string, std::int32_t> first_ranks(const std::vector<Attempts::Speaker>& speakers) {
  std::map<std::string, std::int32_t> base;
  for (const auto& [agent, stream] : speakers) {
    const wire::SourceDefinition& source = stream->source;
    if (source.rank && source.local_rank)
      base.try_emplace(source.node, source.rank->value() - *source.local_rank);
  }
  // The only node of a job has the first ranks.
  if (base.empty() && !speakers.empty()) {
    const std::string& node = speakers.front().stream->source.node;
    if (std::ranges::all_of(speakers, [&](const Attempts::Speaker& speaker) {
          return speaker.stream->source.node == node && !speaker.stream->source.rank;
        }))
      base.try_emplace(node, 0);
  }
  return base;
}

struct Identity {
  std::optional<Rank> rank;
  RankSource source = RankSource::none;
  bool launcher = false;
};

Identity identify(const wire::SourceDefinition& source,
                  const std::map<std::string, std::int32_t>& base) {
  if (source.rank) return {source.rank, source.rank_source, false};
  if (source.local_rank) {
    if (const auto found = base.find(source.node); found != base.end())
      return {Rank{found->second + *source.local_rank}, RankSource::derived, false};
    return {std::nullopt, RankSource::none, false};
  }
  return {std::nullopt, RankSource::none, source.kind != wire::SourceKind::rank};
}

void widen(std::optional<TimeMs>& low, std::optional<TimeMs>& high, std::optional<TimeMs> begin,
           std::optional<TimeMs> end) {
  keep_earliest(low, begin);
  keep_latest(high, end);
}

void add_stream(JobView& view, const AgentSlice& agent, const Stream& stream, std::uint32_t rank,
                const JobSpan& span, bool trust_mtimes) {
  const auto begin = span.within(stream.begin), end = span.within(stream.end);
  StreamView added{&stream, &agent, view.ranks[rank].node, rank, end, {}};
  // In a live job the arrival of a line shows when the file last grew. File times come from the
  // kernel's last tick and may be a little before the last stamp.
  constexpr Millis kTick{10};
  const auto grew = stream.arrival ? stream.arrival : stream.source.modified;
  if ((trust_mtimes || stream.arrival) && grew && (!end || *grew + kTick >= *end))
    added.grew_until = end ? std::max(*grew, *end) : *grew;
  if (added.grew_until) added.last_activity = added.grew_until;
  RankView& owner = view.ranks[rank];
  owner.streams.push_back(static_cast<std::uint32_t>(view.streams.size()));
  owner.lines += stream.lines;
  // A kernel message about a rank does not show that the rank lives.
  const bool alive = stream.source.kind != wire::SourceKind::kernel || owner.launcher;
  if (stream.lines > 0 && alive) widen(owner.begin, owner.end, begin, added.last_activity);
  if (stream.last_completed && (!owner.completed || *stream.last_completed > *owner.completed)) {
    owner.completed = stream.last_completed;
    owner.completed_time = stream.last_completed_time;
  }
  keep_latest(owner.started, stream.last_started);
  view.lines += stream.lines;
  widen(view.begin, view.end, begin, end);
  view.streams.push_back(added);
}

/// Ranks with logs of their own, by node. Kernel messages about other ranks count for the node.
/// Filled only if a kernel message names a rank, which happens live.
std::set<std::pair<std::string, Rank>> speaking_ranks(
    const std::vector<Attempts::Speaker>& speakers,
    const std::map<std::string, std::int32_t>& base) {
  std::set<std::pair<std::string, Rank>> ranks;
  const bool needed = std::ranges::any_of(speakers, [](const Attempts::Speaker& speaker) {
    const wire::SourceDefinition& source = speaker.stream->source;
    return source.kind == wire::SourceKind::kernel && (source.rank || source.local_rank);
  });
  if (!needed) return ranks;
  for (const auto& [agent, stream] : speakers) {
    const wire::SourceDefinition& source = stream->source;
    if (source.kind == wire::SourceKind::kernel) continue;
    if (const auto rank = identify(source, base).rank) ranks.emplace(source.node, *rank);
  }
  return ranks;
}

void add_streams(JobView& view, const Attempts& attempts, bool trust_mtimes) {
  const std::vector<Attempts::Speaker> speakers = attempts.speakers(view.attempt);
  const auto base = first_ranks(speakers);
  const auto speaking = speaking_ranks(speakers, base);
  const JobSpan span(speakers);
  struct Entry {
    const AgentSlice* agent;
    const Stream* stream;
    Identity identity;
  };
  std::map<RankKey, std::vector<Entry>> grouped;
  std::set<std::string> node_names;
  for (const auto& [agent, stream] : speakers) {
    const wire::SourceDefinition& source = stream->source;
    Identity identity = identify(source, base);
    if (source.kind == wire::SourceKind::kernel && identity.rank &&
        !speaking.contains({source.node, *identity.rank}))
      identity = {std::nullopt, RankSource::none, true};
    // All files of a rank number are one rank; streams without a number are ranks by file.
    const bool numbered = identity.rank || source.local_rank;
    node_names.insert(source.node);
    grouped[{source.node, identity.launcher, identity.rank ? identity.rank->value() : -1,
             source.local_rank && !identity.rank ? *source.local_rank : -1,
             numbered ? std::string() : source.path}]
        .push_back({agent, stream, identity});
  }
  for (const std::string& name : node_names) view.nodes.push_back({name, {}, {}, {}});
  const auto number_of = [&](const std::string& name) {
    const auto at = std::ranges::lower_bound(view.nodes, name, {}, &NodeView::name);
    return static_cast<std::uint32_t>(at - view.nodes.begin());
  };
  for (const auto& [key, entries] : grouped) {
    const std::uint32_t node = number_of(std::get<0>(key));
    const auto rank = static_cast<std::uint32_t>(view.ranks.size());
    RankView added;
    added.node = node;
    added.rank = entries.front().identity.rank;
    added.rank_source = entries.front().identity.source;
    added.local_rank = entries.front().stream->source.local_rank;
    added.launcher = entries.front().identity.launcher;
    view.ranks.push_back(std::move(added));
    view.nodes[node].ranks.push_back(rank);
    for (const Entry& entry : entries)
      add_stream(view, *entry.agent, *entry.stream, rank, span, trust_mtimes);
    widen(view.nodes[node].begin, view.nodes[node].end, view.ranks[rank].begin,
          view.ranks[rank].end);
  }
}

/// Estimates the first time of an event from its stream (docs/DESIGN.md, "Time").
std::optional<TimeMs> estimate_time(const StreamView& stream, const EventStats& stats) {
  if (stats.first_time_exact) return stats.first_time;
  const bool in_untimed_tail = stats.first_line > stream.state->timed_last_line;
  if (!in_untimed_tail) return stats.first_time;
  // Lines after the last stamp are not later than the file's last growth.
  const bool after_progress = stats.first_line > stream.state->last_completed_line;
  if (!after_progress) return stats.first_time;
  return stream.grew_until;
}

void merge(EventStats& into, const EventStats& other) {
  if (other.first_line < into.first_line) {
    into.first_line = other.first_line;
    into.first_time = other.first_time;
    into.first_time_exact = other.first_time_exact;
    into.first_stage = other.first_stage;
    into.first_iteration = other.first_iteration;
  }
  into.count += other.count;
  into.last_line = std::max(into.last_line, other.last_line);
  if (other.last_time && (!into.last_time || *other.last_time > *into.last_time)) {
    into.last_time = other.last_time;
    into.last_iteration = other.last_iteration;
  }
}

/// Numbers the events of a view: densely, in the order of their ids.
class EventIndex {
 public:
  EventIndex(JobView& view, TemplateTable& templates) {
    for (const StreamView& stream : view.streams) {
      Locals& locals = locals_[stream.agent];
      for (const auto& [local, stats] : stream.state->events)
        resolve(locals, stream, local, templates);
      for (const TupleCount& seen : stream.state->parameters)
        resolve(locals, stream, seen.local, templates);
    }
    number(view);
  }

  static constexpr std::uint32_t kNone = kNoEvent;  // counted, but never defined

  std::uint32_t at(const AgentSlice* agent, std::uint32_t local) const {
    const Locals& locals = locals_.at(agent);
    L4_CHECK(local < locals.size(), "template {} of {} has no number", local, locals.size());
    return locals[local];
  }
  const std::vector<std::uint32_t>& of(const AgentSlice* agent) const { return locals_.at(agent); }
  auto take() { return std::move(locals_); }

 private:
  using Locals = std::vector<std::uint32_t>;  // number of the event, by local template

  void resolve(Locals& locals, const StreamView& stream, std::uint32_t local,
               TemplateTable& templates) {
    if (local >= locals.size()) locals.resize(local + 1, kNone);
    if (locals[local] != kNone) return;
    const TemplateId id = templates.resolve(stream.agent->node_index, LocalTemplateId{local});
    if (id == TemplateId(0)) return;
    locals[local] =
        numbers_.try_emplace(id, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  void number(JobView& view) {
    std::vector<std::uint32_t> ascending(numbers_.size());
    std::vector<std::pair<TemplateId, std::uint32_t>> ids(numbers_.begin(), numbers_.end());
    std::ranges::sort(ids);
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      ascending[ids[i].second] = i;
      view.events.emplace_back().id = ids[i].first;
    }
    for (auto& [agent, locals] : locals_)
      for (std::uint32_t& event : locals)
        if (event != kNone) event = ascending[event];
  }

  std::unordered_map<const AgentSlice*, Locals> locals_;
  std::unordered_map<TemplateId, std::uint32_t> numbers_;
};

void add_occurrence(JobView& view, EventView& event, std::uint32_t stream,
                    const EventStats& stats) {
  event.count += stats.count;
  const auto occurrence = [&](const EventStats& all) -> Occurrence {
    return {stream, all.first_time_exact, all.first_line, all,
            estimate_time(view.streams[stream], all)};
  };
  if (event.at.empty() || event.at.back().stream != stream) {
    event.at.push_back(occurrence(stats));
    return;
  }
  // Several local templates of one stream are this event.
  const EventStats& before = event.at.back().stats;
  auto sum = std::make_unique<EventStats>(before);
  merge(*sum, stats);
  event.at.pop_back();
  event.at.push_back(occurrence(*sum));
  view.merged.push_back(std::move(sum));
}

void add_parameters(JobView& view, const EventIndex& index, const TuplePool& tuples) {
  std::vector<std::unordered_map<std::uint32_t, std::size_t>> places(view.events.size());
  for (std::uint32_t i = 0; i < view.streams.size(); ++i) {
    const StreamView& stream = view.streams[i];
    for (const TupleCount& seen : stream.state->parameters) {
      const std::uint32_t number = index.at(stream.agent, seen.local);
      if (number == EventIndex::kNone) continue;
      EventView& event = view.events[number];
      const auto [place, created] =
          places[number].try_emplace(seen.tuple.value(), event.parameters.size());
      if (created) event.parameters.push_back({tuples.at(seen.tuple), 0, {}});
      ParameterSeen& known = event.parameters[place->second];
      known.count += seen.count;
      if (known.streams.empty() || known.streams.back() != i) known.streams.push_back(i);
    }
  }
}

void add_events(JobView& view, const JobState& state) {
  TemplateTable& templates = state.templates();
  EventIndex index(view, templates);
  std::vector<std::uint32_t> sizes(view.events.size());
  for (const StreamView& stream : view.streams) {
    const auto& numbers = index.of(stream.agent);
    for (const auto& [local, stats] : stream.state->events)
      if (numbers[local] != EventIndex::kNone) ++sizes[numbers[local]];
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) view.events[i].at.reserve(sizes[i]);
  for (std::uint32_t i = 0; i < view.streams.size(); ++i) {
    const StreamView& stream = view.streams[i];
    const auto& numbers = index.of(stream.agent);
    for (const auto& [local, stats] : stream.state->events) {
      if (numbers[local] == EventIndex::kNone) continue;
      EventView& event = view.events[numbers[local]];
      if (const auto mark = stream.agent->marks.find(local); mark != stream.agent->marks.end())
        event.marks |= mark->second;
      add_occurrence(view, event, i, stats);
    }
  }
  add_parameters(view, index, state.tuples());
  for (EventView& event : view.events) {
    event.text = templates.text(event.id);
    event.level = templates.level(event.id);
  }
  view.numbers = index.take();
}

}  // namespace

Log StreamView::log() const {
  return {agent, state->source.path};
}

std::size_t JobView::training_ranks() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(ranks, [](const RankView& rank) { return !rank.launcher; }));
}

JobView make_view(const JobState& state, std::int32_t attempt, bool trust_mtimes) {
  return make_view(Attempts(state), attempt, trust_mtimes);
}

JobView make_view(const Attempts& attempts, std::int32_t attempt, bool trust_mtimes) {
  const JobState& state = attempts.state();
  JobView view;
  view.state = &state;
  view.attempt = attempt;
  add_streams(view, attempts, trust_mtimes);
  add_processes(view, attempts);
  for (const wire::Coverage& coverage : state.coverage()) {
    view.bytes += coverage.bytes.to - coverage.bytes.from - coverage.bytes_lost;
    view.bytes_known += coverage.bytes_known;
  }
  add_events(view, state);
  return view;
}

std::map<Log, std::uint64_t> completed_lines(const JobView& view) {
  std::map<Log, std::uint64_t> lines;
  for (const StreamView& stream : view.streams) {
    std::uint64_t& line = lines[stream.log()];
    if (stream.state->last_completed) line = std::max(line, stream.state->last_completed_line);
  }
  return lines;
}

}  // namespace l4::job
