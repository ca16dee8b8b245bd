#include "aggregator/store/offsets.h"

#include <algorithm>
#include <utility>

namespace l4::store {
namespace {

constexpr std::uint64_t kOffsetsMagic = 0x3246464f344cU;  // "L4OFF2"

}  // namespace

/// Files have a key; a file without one is identified by its path.
std::string OffsetTable::key_of(std::uint64_t number, const std::string& path) {
  if (number == 0) return "/" + path;
  std::string key(sizeof(std::uint64_t), '\0');
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<char>(number >> (8 * (key.size() - 1 - i)));
  return "k" + key;
}

void OffsetTable::commit(const wire::Batch& batch, TimeMs now) {
  if (!agents_.contains(batch.agent)) evict_agents();
  const bool agents_lost = agents_forgotten_ > 0;
  const auto [found, created] = agents_.try_emplace(batch.agent);
  AgentOffsets& agent = found->second;
  if (created && agents_lost) agent.forgotten = 1;  // this may be one of the evicted agents
  agent.used = std::max(agent.used, now);
  if (agent.newest.incarnation != batch.incarnation) agent.newest = {batch.incarnation, 0};
  agent.newest.sequence = std::max(agent.newest.sequence, batch.sequence);
  for (const wire::Coverage& part : batch.coverage) {
    if (part.bytes.from == part.bytes.to) continue;
    const auto [at, fresh] = agent.files.try_emplace(key_of(part));
    Position& position = at->second;
    if (part.bytes.from > position.offset) {
      stats_.skipped_bytes += part.bytes.from - position.offset;
      if (fresh) ++stats_.adopted;
    }
    position.file = part.file;
    position.path = part.path;
    position.offset = std::max(position.offset, part.bytes.to);
    position.lines += part.lines;
    position.used = now;
  }
  evict_files(agent);
}

void OffsetTable::evict_files(AgentOffsets& agent) {
  while (agent.files.size() > limits_.files_per_agent) {
    const auto oldest = std::ranges::min_element(
        agent.files, {}, [](const auto& entry) { return entry.second.used; });
    agent.files.erase(oldest);
    ++agent.forgotten;
    ++stats_.forgotten;
  }
}

void OffsetTable::evict_agents() {
  while (agents_.size() >= std::max<std::size_t>(limits_.agents, 1)) {
    const auto oldest =
        std::ranges::min_element(agents_, {}, [](const auto& entry) { return entry.second.used; });
    stats_.forgotten += oldest->second.files.size();
    agents_.erase(oldest);
    ++agents_forgotten_;
  }
}

std::vector<Position> OffsetTable::positions(const std::string& agent) const {
  std::vector<Position> positions;
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return positions;
  for (const auto& [key, position] : found->second.files) positions.push_back(position);
  return positions;
}

OffsetTable::Newest OffsetTable::newest(const std::string& agent) const {
  const auto found = agents_.find(agent);
  return found == agents_.end() ? Newest{} : found->second.newest;
}

bool OffsetTable::adopts(const std::string& agent) const {
  const auto found = agents_.find(agent);
  return found == agents_.end() ? agents_forgotten_ > 0 : found->second.forgotten > 0;
}

void OffsetTable::release(const std::string& agent, const std::vector<std::uint64_t>& files) {
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return;
  for (const std::uint64_t key : files)
    if (key != 0) found->second.files.erase(key_of(key, {}));
}

std::vector<std::string> OffsetTable::agents() const {
  std::vector<std::string> names;
  names.reserve(agents_.size());
  for (const auto& [name, agent] : agents_) names.push_back(name);
  return names;
}

std::size_t OffsetTable::files() const {
  std::size_t all = 0;
  for (const auto& [name, agent] : agents_) all += agent.files.size();
  return all;
}

void OffsetTable::expire(TimeMs now) {
  for (auto at = agents_.begin(); at != agents_.end();) {
    const bool unused = now - at->second.used > limits_.age;
    if (unused) stats_.forgotten += at->second.files.size();
    agents_forgotten_ += unused && !at->second.files.empty() ? 1 : 0;
    at = unused ? agents_.erase(at) : std::next(at);
  }
}

void OffsetTable::save(ByteWriter& out) const {
  out.word(kOffsetsMagic);
  out.number(agents_forgotten_);
  out.number(agents_.size());
  for (const auto& [name, agent] : agents_) {
    out.text(name);
    out.number(agent.forgotten);
    out.word(agent.newest.incarnation);
    out.number(agent.newest.sequence);
    out.signed_number(agent.used.time_since_epoch().count());
    out.number(agent.files.size());
    for (const auto& [key, position] : agent.files) {
      out.text(key);
      out.word(position.file.key);
      out.number(position.file.device);
      out.number(position.file.inode);
      out.word(position.file.fingerprint);
      out.number(position.file.fingerprint_bytes);
      out.text(position.path);
      out.number(position.offset);
      out.number(position.lines);
      out.signed_number(position.used.time_since_epoch().count());
    }
  }
}

Result<void> OffsetTable::load(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const bool ours = in.word() == kOffsetsMagic;
  agents_.clear();
  agents_forgotten_ = in.number();
  for (std::size_t left = in.count(13); left > 0 && in.ok(); --left) {
    AgentOffsets& agent = agents_[in.text()];
    agent.forgotten = in.number();
    agent.newest.incarnation = in.word();
    agent.newest.sequence = in.number();
    agent.used = TimeMs{Millis{in.signed_number()}};
    for (std::size_t files = in.count(24); files > 0 && in.ok(); --files) {
      Position& position = agent.files[in.text()];
      position.file.key = in.word();
      position.file.device = in.number();
      position.file.inode = in.number();
      position.file.fingerprint = in.word();
      position.file.fingerprint_bytes = in.number32();
      position.path = in.text();
      position.offset = in.number();
      position.lines = in.number();
      position.used = TimeMs{Millis{in.signed_number()}};
    }
  }
  if (ours && in.ok() && in.left() == 0) return {};
  agents_.clear();
  return std::unexpected(Error{"offsets", "the saved offsets are cut or of another version"});
}

}  // namespace l4::store
