#include "agent/node_agent.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/node_state.h"
#include "agent/part_reading.h"

namespace l4::agent {
NodeAgent::NodeAgent(std::string name, std::vector<discover::LogFile> files,
                     const segment::RulePackSet& packs, Options options)
    : state_(std::make_unique<State>(std::move(name), packs, options)) {
  for (discover::LogFile& file : files) {
    const auto modified = file.older.empty() ? file.modified : file.older.front().modified;
    std::vector<FilePart> parts = parts_of(file);
    state_->files.push_back({std::move(parts), state_->pipeline.open(std::move(file), modified)});
  }
}

NodeAgent::~NodeAgent() = default;
NodeAgent::NodeAgent(NodeAgent&&) noexcept = default;

const std::string& NodeAgent::name() const {
  return state_->name;
}

void NodeAgent::read_all(wire::Sender& sender, std::atomic<std::uint64_t>& bytes_done,
                         const std::stop_token& stop) {
  state_->sender = &sender;
  const auto chunk = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  for (OpenFile& open : state_->files) {
    if (stop.stop_requested()) break;
    state_->read_file(open, {chunk.get(), kChunkBytes}, bytes_done, stop);
  }
  state_->pipeline.flush(Millis{0});
  state_->sender = nullptr;
}

void NodeAgent::freeze() {
  state_->pipeline.freeze();
  state_->index.freeze();
}

void NodeAgent::State::read_file(OpenFile& open, std::span<char> chunk,
                                 std::atomic<std::uint64_t>& bytes_done,
                                 const std::stop_token& stop) {
  std::vector<wire::Warning> warnings;
  const auto feed = [&](std::string_view bytes) { pipeline.feed(open.log, bytes); };
  PartReading reading{chunk, bytes_done, stop, warnings};
  for (FilePart& part : open.parts) {
    pipeline.part(open.log, {part.name, {}, 0, 0, {}});
    const decode::TextPosition begin = pipeline.log(open.log)->decoder->progress().front;
    part.bytes.from = begin.bytes;
    part.lines_before = begin.lines;
    pipeline.known(open.log, {}, read_part(part, feed, reading));
    pipeline.end_part(open.log);
    part.bytes.to = pipeline.log(open.log)->decoder->progress().front.bytes;
  }
  for (wire::Warning& warning : warnings) pipeline.warn(std::move(warning));
  warnings.clear();
  pipeline.end(open.log);
  note_left_out(pipeline.log(open.log)->stats, options.decode, open.parts.back().name, warnings);
  for (wire::Warning& warning : warnings) pipeline.warn(std::move(warning));
}

void NodeAgent::State::batch(wire::Batch&& batch) {
  batch.agent = name;
  batch.sequence = sequence++;
  sender->send(std::move(batch));
}

std::vector<std::string> NodeAgent::frameworks() const {
  return {state_->pipeline.known_packs().begin(), state_->pipeline.known_packs().end()};
}

std::vector<FileFacts> NodeAgent::facts() const {
  std::vector<FileFacts> facts;
  for (const OpenFile& open : state_->files) {
    const pipeline::Log& log = *state_->pipeline.log(open.log);
    FileFacts fact{log.file.name,
                   log.file.node,
                   std::string(log.time_format),
                   log.stats.bytes,
                   log.stats.lines,
                   log.stats.lines_with_time,
                   log.stats.lines_with_rank,
                   open.parts.size() - 1,
                   {},
                   {}};
    std::set<Rank> ranks;
    for (std::size_t speaker = 0; speaker < log.speakers.size(); ++speaker)
      if (const auto rank = log.speakers.definition(speaker).rank) ranks.insert(*rank);
    fact.ranks.assign(ranks.begin(), ranks.end());
    fact.iteration_marker = log.marker_text;
    if (log.marker && fact.iteration_marker.empty())
      fact.iteration_marker = state_->pipeline.miner().at(*log.marker).text;
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace l4::agent
