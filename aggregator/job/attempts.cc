#include "aggregator/job/attempts.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::job {
namespace {

bool is_rank(const Stream& stream) {
  return stream.source.kind == wire::SourceKind::rank;
}

/// A kernel message about one of the job's processes.
bool is_about_rank(const Stream& stream) {
  return stream.source.kind == wire::SourceKind::kernel && stream.source.rank;
}

}  // namespace

Attempts::Attempts(const JobState& state) : state_(&state), starts_(state) {
  const std::vector<Filed> streams = file_streams();
  for (const auto& [speaker, file] : streams)
    if (is_rank(*speaker.stream)) attempts_[start_of(*speaker.stream)];
  const bool ranks_known = !attempts_.empty();
  if (!ranks_known) attempts_[0];
  for (auto& [key, file] : files_) file.counts = file.has_ranks || !ranks_known;
  find_begins(streams);
  std::int32_t more = 0;
  for (auto& [number, attempt] : attempts_) {
    attempt.first = number + more;
    more += static_cast<std::int32_t>(attempt.begins.size()) - 1;
  }
  std::size_t order = 0;
  for (const auto& [speaker, file] : streams) {
    const auto number = of(*speaker.stream, *file);
    (number ? speakers_[*number] : in_all_).push_back({order++, speaker});
  }
}

/// All streams, by agent and source, each with what is known of its file.
std::vector<Attempts::Filed> Attempts::file_streams() {
  std::vector<Filed> streams;
  for (const auto& [name, agent] : state_->agents())
    for (const auto& [id, stream] : agent.streams) {
      const wire::SourceDefinition& source = stream.source;
      File& file = files_[{&agent, source.path}];
      streams.push_back({{&agent, &stream}, &file});
      file.runs = std::max(file.runs, source.run + 1);
      file.has_ranks |= is_rank(stream);
      if (!is_rank(stream)) continue;
      if (starts_.of(source.node, source.rank, source.attempt) == source.attempt)
        told_.insert(source.attempt);
      if (source.run > 0) with_runs_.insert(source.attempt);
    }
  return streams;
}

/// When the runs of each attempt began, by the files that hold them all.
void Attempts::find_begins(const std::vector<Filed>& streams) {
  for (const auto& [speaker, file] : streams) {
    const Stream& stream = *speaker.stream;
    const auto attempt = attempts_.find(start_of(stream));
    if (attempt == attempts_.end() || !file->counts || is_about_rank(stream)) continue;
    auto& begins = attempt->second.begins;
    if (begins.size() > file->runs) continue;
    if (begins.size() < file->runs) begins.assign(file->runs, std::nullopt);
    keep_earliest(begins[stream.source.run], stream.begin);
  }
}

std::vector<Attempts::Speaker> Attempts::speakers(std::int32_t number) const {
  std::vector<Placed> placed = in_all_;
  if (const auto own = speakers_.find(number); own != speakers_.end())
    placed.insert(placed.end(), own->second.begin(), own->second.end());
  std::ranges::inplace_merge(placed, placed.begin() + static_cast<std::ptrdiff_t>(in_all_.size()),
                             {}, &Placed::order);
  std::vector<Speaker> speakers;
  speakers.reserve(placed.size());
  for (const Placed& each : placed) speakers.push_back(each.speaker);
  return speakers;
}

/// Files with fewer runs may hold lines from before the first kept run; those are not used.
std::size_t Attempts::first_kept(const PathAttempt& attempt) {
  return attempt.begins.size() - std::min<std::size_t>(attempt.begins.size(), kRunsKept);
}

std::size_t Attempts::dropped() const {
  std::size_t runs = 0;
  for (const auto& [number, attempt] : attempts_) runs += first_kept(attempt);
  return runs;
}

std::vector<std::int32_t> Attempts::numbers() const {
  std::vector<std::int32_t> all;
  for (const auto& [number, attempt] : attempts_)
    for (std::size_t run = first_kept(attempt); run < attempt.begins.size(); ++run)
      all.push_back(attempt.first + static_cast<std::int32_t>(run));
  return all;
}

/// If the files of an attempt hold several runs, a start without a file of its own is one of these
/// runs.
std::int32_t Attempts::start_of(const Stream& stream) const {
  const wire::SourceDefinition& source = stream.source;
  if (!is_rank(stream)) return source.attempt;
  const std::int32_t number = starts_.of(source.node, source.rank, source.attempt);
  return told_.contains(number) || !with_runs_.contains(source.attempt) ? number : source.attempt;
}

std::int32_t Attempts::of(const std::string& node, const wire::ProcessFact& fact) const {
  const std::int32_t number = starts_.of(node, fact.rank, fact.attempt);
  const auto found = attempts_.find(number);
  return found == attempts_.end() ? number : found->second.first;
}

/// The newest attempt that had begun by this time.
std::optional<std::int32_t> Attempts::begun_by(TimeMs time) const {
  std::optional<std::int32_t> number;
  for (const auto& [path, attempt] : attempts_)
    for (std::size_t run = 0; run < attempt.begins.size(); ++run)
      if (attempt.begins[run] && *attempt.begins[run] <= time)
        number = attempt.first + static_cast<std::int32_t>(run);
  return number;
}

std::optional<std::int32_t> Attempts::of(const AgentSlice& agent, const Stream& stream) const {
  return of(stream, files_.at({&agent, stream.source.path}));
}

std::optional<std::int32_t> Attempts::of(const Stream& stream, const File& file) const {
  if (is_about_rank(stream)) return stream.end ? begun_by(*stream.end) : std::nullopt;
  const auto found = attempts_.find(start_of(stream));
  const bool one_run = found == attempts_.end() || found->second.begins.size() == 1;
  if (!is_rank(stream) && (one_run || !file.counts)) return std::nullopt;
  L4_CHECK(found != attempts_.end(), "{}: attempt {} of its rank has no number", stream.source.path,
           stream.source.attempt);
  const PathAttempt& attempt = found->second;
  const auto all = static_cast<std::uint32_t>(attempt.begins.size());
  std::uint32_t run =
      all - file.runs + stream.source.run;  // without times the last runs of both are the same
  const bool timed =
      stream.end && 4 * (stream.last_line - stream.timed_last_line) <= stream.last_line;
  if (file.runs < all && timed)
    for (run = all - 1; run > 0; --run)
      if (attempt.begins[run] && *attempt.begins[run] <= *stream.end) break;
  return attempt.first + static_cast<std::int32_t>(run);
}

bool Attempts::is_rerun(std::int32_t number) const {
  return std::ranges::none_of(attempts_,
                              [&](const auto& entry) { return entry.second.first == number; });
}

}  // namespace l4::job
