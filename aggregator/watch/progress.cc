#include "aggregator/watch/progress.h"

#include <algorithm>

#include "aggregator/numbers/watch.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

constexpr std::size_t kStreamsMax = 262'144;

TimeMs moment_of(const wire::Segment& segment, TimeMs arrival) {
  return segment.arrival_end
             ? std::clamp(*segment.arrival_end, arrival - numbers::watch().trust, arrival)
             : arrival;
}

/// Order of attempts in files: the attempt of the path, then the run within the file.
std::int64_t order_of(const wire::SourceDefinition& source) {
  return std::int64_t{source.attempt} * (std::int64_t{1} << 32) + source.run;
}

bool says_anything(const wire::Segment& segment) {
  return !segment.events.empty() || segment.updates > 0;
}

/// A traceback's functions may belong to any stage: only lines that recur during training count.
bool recurs(Stage stage) {
  return stage == Stage::evaluation || stage == Stage::checkpoint_save ||
         stage == Stage::data_loading;
}

/// The segment is the first of another stage of its stream.
bool begins_stage(const job::Stream& stream, const wire::Segment& segment) {
  const auto begun = std::find_if(
      stream.stages.rbegin(), stream.stages.rend(),
      [&](const job::StageChange& change) { return change.line <= segment.lines.first; });
  return begun != stream.stages.rend() && begun->line == segment.lines.first &&
         begun->stage == segment.stage;
}

}  // namespace

Progress::Step Progress::applied(const job::AgentSlice& agent, std::uint32_t agent_number,
                                 const wire::Batch& batch, TimeMs arrival) {
  Step step;
  for (const wire::SourceDefinition& source : batch.sources) note_attempt(source, arrival, step);
  for (const wire::Segment& one : batch.segments) {
    const auto stream = agent.streams.find(one.source.value());
    if (stream == agent.streams.end()) continue;
    const std::uint64_t key = std::uint64_t{agent_number} << 32U | one.source.value();
    segment(stream->second, key, one, moment_of(one, arrival), step);
  }
  return step;
}

void Progress::note_attempt(const wire::SourceDefinition& source, TimeMs now, Step& step) {
  if (source.kind != wire::SourceKind::rank) return;
  const std::int64_t order = order_of(source);
  if (order <= order_) return;
  const bool first = order_ < 0;
  order_ = order;
  if (first) return;
  restart(now);
  step.started = true;
}

void Progress::restart(TimeMs now) {
  ++attempts_;
  iterated_ = printed_ = interrupted_ = false;
  newest_.reset();
  numbering_ = 0;
  paced_.reset();
  pace_.forget();
  streams_.clear();
  stages_begun_ = 0;
  stage_at_.reset();
  kind_ = {};
  last_ = marked_ = now;
}

void Progress::resume(const job::JobState& state, const std::vector<double>& iterations_ms,
                      std::optional<Iteration> completed, TimeMs now) {
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams)
      if (stream.source.kind == wire::SourceKind::rank)
        order_ = std::max(order_, order_of(stream.source));
  for (const double ms : iterations_ms) {
    pauses_.add({Stage::training, false}, Millis{static_cast<std::int64_t>(ms)});
    pace_.add(ms);
  }
  iterated_ = completed.has_value();
  newest_ = completed;
  kind_ = {iterated_ ? Stage::training : Stage::unknown, !iterated_};
  last_ = marked_ = now;
  interrupted_ = true;
}

void Progress::segment(const job::Stream& stream, std::uint64_t key, const wire::Segment& segment,
                       TimeMs at, Step& step) {
  const wire::SourceKind source = stream.source.kind;
  if (source == wire::SourceKind::kernel) return;
  if (segment.boundary == wire::Boundary::completed && segment.iteration &&
      (!segment.counted || !printed_))
    completed(key, segment, at, step);
  if (!iterated_) {
    if (!says_anything(segment)) return;
    step.moved = true;
    if (marked_ && at < *marked_ + numbers::watch().burst_within && kind_.stage == segment.stage)
      last_ = std::max(last_.value_or(at), at);
    else
      reach(at, {segment.stage, true}, step);
    return;
  }
  if (!recurs(segment.stage) || source == wire::SourceKind::launcher ||
      !begins_stage(stream, segment))
    return;
  const std::uint32_t bit = 1U << static_cast<unsigned>(segment.stage);
  if ((stages_begun_ & bit) != 0) return;
  // Reported late: iterations were done since this stage began.
  const TimeMs begin = segment.arrival_begin ? std::min(*segment.arrival_begin, at) : at;
  if (marked_ && begin + numbers::watch().trust < *marked_) return;
  stages_begun_ |= bit;
  begin_stage(segment.stage, marked_ ? std::max(begin, *marked_) : begin,
              static_cast<std::uint32_t>(key >> 32U), step);
  step.moved = true;
}

void Progress::completed(std::uint64_t key, const wire::Segment& segment, TimeMs at, Step& step) {
  if (!segment.counted && !printed_) {  // printed iterations replace counted ones
    printed_ = true;
    streams_.clear();
    newest_.reset();
    paced_.reset();
  }
  if (segment.numbering > numbering_) {  // another marker's numbers replace the former's
    numbering_ = segment.numbering;
    streams_.erase(key);
    newest_.reset();
    paced_.reset();
  }
  const Iteration iteration = *segment.iteration;
  const auto known = streams_.find(key);
  const bool moved = known == streams_.end() || iteration > known->second;
  if (known != streams_.end())
    known->second = iteration;  // also if lower: the source counts from the start again
  else if (streams_.size() < kStreamsMax)
    streams_.emplace(key, iteration);
  if (!moved) return;
  step.moved = true;
  last_ = std::max(last_.value_or(at), at);
  // A stray number far beyond the job's iterations must not stop its clock.
  stray_ = newest_ && iteration <= *newest_ ? stray_ + 1 : 0;
  if (stray_ > numbers::watch().stray_min + numbers::watch().stray_per_stream * streams_.size())
    newest_.reset();
  if (newest_ && iteration <= *newest_) return;
  step.ticked = true;
  before_ = segment.before;
  tick(iteration, at, static_cast<std::uint32_t>(key >> 32U), step);
}

void Progress::tick(Iteration iteration, TimeMs at, std::uint32_t agent, Step& step) {
  ++ticks_;
  const bool first = !iterated_;
  iterated_ = true;
  if (paced_ && newest_ && at > paced_->at && !interrupted_ && iteration > paced_->iteration) {
    const auto steps = static_cast<double>(iteration.value() - paced_->iteration.value());
    pace_.add(static_cast<double>((at - paced_->at).count()) / steps);
  }
  if (!paced_ || at > paced_->at) paced_ = Moment{iteration, at};
  newest_ = iteration;
  // The stage after this iteration lasts, although its line arrived before the iteration's.
  const Millis before = agent == stage_agent_ ? Millis{0} : numbers::watch().clocks_apart;
  if (!first && stage_at_ && at <= *stage_at_ + before) {
    last_ = std::max(last_.value_or(at), at);
    return;
  }
  stages_begun_ = 0;
  stage_at_.reset();
  reach(at, {Stage::training, false}, step);
}

void Progress::begin_stage(Stage stage, TimeMs at, std::uint32_t agent, Step& step) {
  stage_at_ = at;
  stage_agent_ = agent;
  reach(at, {stage, false}, step);
}

void Progress::reach(TimeMs at, PauseKind next, Step& step) {
  if (marked_ && at >= *marked_ && !interrupted_) {
    const Millis pause = at - *marked_;
    step.long_pause = step.long_pause || (!kind_.startup && pauses_.is_long(kind_, pause));
    pauses_.add(kind_, pause);
  }
  interrupted_ = false;
  marked_ = std::max(marked_.value_or(at), at);
  last_ = std::max(last_.value_or(at), at);
  kind_ = next;
}

template <class Archive, class Self>
void Progress::persist(Archive& archive, Self& self) {
  archive.part(self.pauses_);
  archive.part(self.pace_);
  archive(self.last_, self.marked_);
  archive.enumerator(self.kind_.stage, Stage::exit);
  archive(self.kind_.startup, self.iterated_, self.printed_, self.interrupted_, self.newest_);
  bool paced = self.paced_.has_value();
  archive(paced);
  if constexpr (Archive::kLoads) self.paced_ = paced ? std::optional(Moment{}) : std::nullopt;
  if (paced) archive(self.paced_->iteration, self.paced_->at);
  archive(self.stages_begun_, self.stage_at_, self.stage_agent_);
  archive.map(
      self.streams_, sizeof(std::uint64_t) + 1, [&](auto& key) { archive.word(key); },
      [&](auto& iteration) { archive(iteration); });
  archive(self.stray_, self.order_, self.ticks_, self.attempts_, self.before_, self.numbering_);
}

void Progress::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void Progress::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::watch
