#include "aggregator/watch/telling_lines.h"

#include <algorithm>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/numbers/watch.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

using detect::Severity;

constexpr std::size_t kTellingMax = 65'536, kKnownMax = 4'096, kTextBytesMax = 120;
constexpr std::size_t kRanksMax = 262'144;
constexpr std::uint8_t kNotTelling =
    wire::kMarkIteration | wire::kMarkTeardown | wire::kMarkFinished | wire::kMarkProgress;

/// A numbered rank is one speaker, whichever agent or source it has.
std::pair<std::uint32_t, std::int64_t> speaker(std::uint32_t agent,
                                               const wire::SourceDefinition& source) {
  if (source.rank) return {0, source.rank->value()};
  if (source.local_rank) return {agent, *source.local_rank};
  return {agent, -1 - std::int64_t{source.id.value()}};
}

}  // namespace

void TellingLines::define(AgentTemplates& agent, const wire::TemplateDefinition& definition) {
  const std::uint32_t local = definition.id.value();
  const detect::Ending ending = detect::ending_of(definition.text);
  const bool ends = (definition.marks & wire::kMarkFinished) != 0 || ending == detect::Ending::well;
  if (ends && agent.finishing.size() < kTellingMax) agent.finishing.insert(local);
  if ((definition.marks & kNotTelling) != 0) return;
  const Severity severity =
      std::max(detect::severity_of(definition.text, definition.level),
               ending == detect::Ending::gone ? Severity::failure : Severity::none);
  if (severity < Severity::failure ||
      (severity == Severity::failure && normal_ && normal_(definition))) {
    agent.telling.erase(local);
    return;
  }
  if (agent.telling.size() >= kTellingMax && !agent.telling.contains(local)) {
    ++left_out_;
    return;
  }
  agent.telling[local] = severity;
}

bool TellingLines::is_new(TemplateId id, Severity severity, std::uint64_t ticks, TimeMs now) {
  const auto found = known_.find(id);
  if (found == known_.end()) {
    if (known_.size() >= kKnownMax) {
      ++left_out_;
      return false;
    }
    known_.emplace(id, Known{ticks, now});
    return true;
  }
  Known& known = found->second;
  const bool noise = ticks >= known.ticks + numbers::watch().noise_ticks;
  const bool quiet = now >= known.last + numbers::watch().noise_quiet;
  known.last = std::max(known.last, now);
  return noise && quiet && severity == Severity::fatal;
}

TellingLines::Found TellingLines::applied(const job::JobState& state, const job::AgentSlice& agent,
                                          std::uint32_t agent_number, const wire::Batch& batch,
                                          std::uint64_t ticks, TimeMs arrival) {
  Found found;
  AgentTemplates& own = agents_[agent_number];
  for (const wire::TemplateDefinition& definition : batch.templates) define(own, definition);
  for (const wire::SourceDefinition& source : batch.sources)
    if (source.kind == wire::SourceKind::rank && ranks_.size() < kRanksMax)
      ranks_.insert(speaker(agent_number, source));
  if (own.telling.empty() && own.finishing.empty()) return found;
  for (const wire::Segment& segment : batch.segments) {
    const auto stream = agent.streams.find(segment.source.value());
    if (stream == agent.streams.end()) continue;
    const wire::SourceDefinition& source = stream->second.source;
    for (const wire::EventCount& event : segment.events) {
      if (own.finishing.contains(event.id.value())) {
        const Speaker key = speaker(agent_number, source);
        if (ranks_.contains(key)) finished_.insert(key);
        found.finished |= source.kind == wire::SourceKind::launcher || ranks_.empty() ||
                          finished_.size() * 2 > ranks_.size();
      }
      const auto telling = own.telling.find(event.id.value());
      if (telling == own.telling.end()) continue;
      const TemplateId id = state.templates().resolve(agent.node_index, event.id);
      if (!is_new(id, telling->second, ticks, arrival)) continue;
      if (found.worst && found.worst->severity >= telling->second) continue;
      found.worst = Hit{telling->second, source.node, source.rank,
                        state.templates().text(id).substr(0, kTextBytesMax)};
    }
  }
  for (const LocalTemplateId id : batch.forgotten) {
    own.telling.erase(id.value());
    own.finishing.erase(id.value());
  }
  return found;
}

void TellingLines::restart() {
  known_.clear();
  ranks_.clear();
  finished_.clear();
}

template <class Archive, class Self>
void TellingLines::persist(Archive& archive, Self& self) {
  const auto value = [&](auto& one) { archive(one); };
  archive.map(self.agents_, 3, value, [&](auto& agent) {
    archive.map(agent.telling, 2, value,
                [&](auto& severity) { archive.enumerator(severity, Severity::fatal); });
    archive.set(agent.finishing, 1, value);
  });
  archive.map(
      self.known_, sizeof(std::uint64_t) + 2, [&](auto& id) { archive.word(id); },
      [&](auto& known) { archive(known.ticks, known.last); });
  const auto speaker = [&](auto& one) { archive(one.first, one.second); };
  archive.set(self.ranks_, 2, speaker);
  archive.set(self.finished_, 2, speaker);
  archive(self.left_out_);
}

void TellingLines::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void TellingLines::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::watch
