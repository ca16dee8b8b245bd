#include "aggregator/job/saved_job.h"

#include <fmt/format.h>

#include <span>

namespace l4::job {
namespace {

constexpr std::uint64_t kMagic = 0x31424f4a344cULL;  // "L4JOB1"
/// Counts up with every change of what follows; an older aggregator's bytes are then read again
/// from the journal, or by the agents.
constexpr std::uint64_t kVersion = 6;

void save_coverage(ByteWriter& out, const wire::Coverage& coverage) {
  out.text(coverage.path);
  out.number(coverage.bytes.from);
  out.number(coverage.bytes.to);
  out.number(coverage.lines);
  out.number(coverage.bytes_known);
  out.number(coverage.bytes_lost);
  out.word(coverage.file.key);
  out.number(coverage.file.device);
  out.number(coverage.file.inode);
  out.word(coverage.file.fingerprint);
  out.number(coverage.file.fingerprint_bytes);
}

wire::Coverage load_coverage(ByteReader& in) {
  wire::Coverage coverage;
  coverage.path = in.text();
  coverage.bytes.from = in.number();
  coverage.bytes.to = in.number();
  coverage.lines = in.number();
  coverage.bytes_known = in.number();
  coverage.bytes_lost = in.number();
  coverage.file.key = in.word();
  coverage.file.device = in.number();
  coverage.file.inode = in.number();
  coverage.file.fingerprint = in.word();
  coverage.file.fingerprint_bytes = in.number32();
  return coverage;
}

void save_agent(ByteWriter& out, const Agent& agent) {
  out.text(agent.name);
  out.number(agent.node_index);
  agent.sequences.save(out);
  out.number(agent.streams.size());
  for (const auto& [id, stream] : agent.streams) {
    out.number(id);
    stream.save(out);
  }
  out.number(agent.sources_end);
  out.number(agent.marks.size());
  for (const auto& [local, marks] : agent.marks) {
    out.number(local);
    out.byte(marks);
  }
  out.number(agent.timers.size());
  for (const wire::TimerName& timer : agent.timers) {
    out.number(timer.timer);
    out.text(timer.name);
    out.byte(static_cast<std::uint8_t>(timer.kind));
  }
  out.number(agent.files.size());
  for (const auto& [key, index] : agent.files) {
    out.word(key);
    out.number(index);
  }
  agent.processes.save(out);
}

void load_agent(ByteReader& in, Agent& agent, const TuplePool& tuples) {
  agent.sequences.load(in);
  for (std::size_t left = in.count(2); left > 0 && in.ok(); --left) {
    const std::uint32_t id = in.number32();
    Stream& stream = agent.streams[id];
    stream.load(in, agent.sequences, tuples);
    agent.runs[stream.source.path][stream.source.run].push_back(id);
  }
  agent.sources_end = in.number32();
  for (std::size_t left = in.count(2); left > 0; --left) {
    const std::uint32_t local = in.number32();
    agent.marks[local] = in.byte();
  }
  agent.timers.resize(in.count(3));
  for (wire::TimerName& timer : agent.timers) {
    timer.timer = static_cast<std::uint16_t>(in.number32());
    timer.name = in.text();
    timer.kind = static_cast<wire::TimerKind>(in.byte());
    if (timer.kind > wire::TimerKind::mixed) in.fail();
  }
  for (std::size_t left = in.count(9); left > 0; --left) {
    const std::uint64_t key = in.word();
    agent.files[key] = in.number();
  }
  agent.processes.load(in);
}

}  // namespace

void JobState::save(ByteWriter& out) const {
  out.text(id_);
  out.number(job_index_);
  tuples_.save(out);
  out.number(coverage_.size());
  for (const wire::Coverage& coverage : coverage_) save_coverage(out, coverage);
  out.number(warnings_.size());
  for (const wire::Warning& warning : warnings_) {
    out.text(warning.kind);
    out.text(warning.file);
    out.text(warning.reason);
    out.number(warning.bytes);
  }
  out.number(forgotten_);
  out.number(lines_by_half_);
  out.number(agents_.size());
  for (const auto& [name, agent] : agents_) save_agent(out, agent);
}

void JobState::load(ByteReader& in) {
  if (in.text() != id_) return in.fail();
  job_index_ = in.number32();
  agents_.clear();
  sources_ = 0;
  tuples_.load(in);
  coverage_.resize(in.count(21));
  for (wire::Coverage& coverage : coverage_) coverage = load_coverage(in);
  warnings_.resize(in.count(4));
  for (wire::Warning& warning : warnings_) {
    warning.kind = in.text();
    warning.file = in.text();
    warning.reason = in.text();
    warning.bytes = in.number();
  }
  forgotten_ = in.number();
  lines_by_half_ = in.number();
  for (std::size_t left = in.count(8); left > 0 && in.ok(); --left) {
    const std::string name = in.text();
    Agent& agent = agents_[name];
    agent.name = name;
    agent.node_index = in.number32();
    load_agent(in, agent, tuples_);
    for (const auto& [key, index] : agent.files)
      if (index >= coverage_.size()) in.fail();
    sources_ += agent.streams.size();
  }
}

void save_job(const JobState& state, ByteWriter& out) {
  out.word(kMagic);
  out.number(kVersion);
  state.templates().save(out);
  state.save(out);
}

Result<void> load_job(std::span<const std::byte> bytes, JobState& state) {
  ByteReader in(bytes);
  if (in.word() != kMagic) return std::unexpected(Error{state.id(), "no saved job"});
  if (const std::uint64_t version = in.number(); version != kVersion)
    return std::unexpected(
        Error{state.id(), fmt::format("saved in version {}, this is {}", version, kVersion)});
  state.templates().load(in);
  state.load(in);
  if (!in.ok() || in.left() > 0)
    return std::unexpected(Error{state.id(), "the saved job is cut or another one's"});
  return {};
}

}  // namespace l4::job
