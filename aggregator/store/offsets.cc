#include "aggregator/store/offsets.h"

#include <algorithm>
#include <utility>

namespace l4::store {
namespace {

constexpr std::uint64_t kMagic = 0x3146464f344cU;  // "L4OFF1"

}  // namespace

/// Files have a key; what comes without one is told apart by its path.
std::string OffsetTable::key_of(const wire::Coverage& coverage) {
  if (coverage.file.key == 0) return "/" + coverage.path;
  std::string key(sizeof(std::uint64_t), '\0');
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<char>(coverage.file.key >> (8 * (key.size() - 1 - i)));
  return "k" + key;
}

Decision OffsetTable::decide(const wire::Batch& batch) {
  const auto known = agents_.find(batch.agent);
  const bool lost_files =
      known != agents_.end() ? known->second.forgotten > 0 : agents_forgotten_ > 0;
  std::map<std::string, std::uint64_t> within;  // where the batch itself has brought its files
  std::map<std::string, std::uint64_t> starts;  // and where they stood before
  std::map<std::string, Wanted> wanted;
  bool news = false, old = false;
  for (const wire::Coverage& part : batch.coverage) {
    const std::string key = key_of(part);
    auto [at, first] = within.try_emplace(key, 0);
    if (first) {
      const Position* position = nullptr;
      if (known != agents_.end())
        if (const auto file = known->second.files.find(key); file != known->second.files.end())
          position = &file->second;
      if (position != nullptr)
        at->second = position->offset;
      else if (lost_files)
        at->second = part.bytes.from;
      starts[key] = at->second;
    }
    std::uint64_t& committed = at->second;
    if (part.bytes.from == committed && part.bytes.to > committed) {
      news = true;
      committed = part.bytes.to;
    } else if (part.bytes.to <= committed && part.bytes.from <= part.bytes.to) {
      old = old || part.bytes.to > part.bytes.from;
    } else {
      wanted.try_emplace(key, Wanted{part.file, part.path, committed});
    }
  }
  Decision decision;
  if (wanted.empty() && (news != old || !news)) {
    decision.what = old ? Decision::What::ignore : Decision::What::apply;
    ++(old ? stats_.ignored : stats_.applied);
    return decision;
  }
  // Some of it counted and some not: the agent is told where all of its files stand.
  decision.what = Decision::What::refuse;
  ++stats_.refused;
  if (wanted.empty())
    for (const wire::Coverage& part : batch.coverage)
      wanted.try_emplace(key_of(part), Wanted{part.file, part.path, starts.at(key_of(part))});
  for (auto& [key, one] : wanted) decision.wanted.push_back(std::move(one));
  return decision;
}

void OffsetTable::commit(const wire::Batch& batch, TimeMs now) {
  if (batch.coverage.empty()) return;
  if (!agents_.contains(batch.agent)) make_room_for_agent();
  const bool agents_lost = agents_forgotten_ > 0;
  const auto [found, created] = agents_.try_emplace(batch.agent);
  Agent& agent = found->second;
  if (created && agents_lost) agent.forgotten = 1;  // it may be one of those
  agent.used = std::max(agent.used, now);
  for (const wire::Coverage& part : batch.coverage) {
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
  make_room(agent);
}

void OffsetTable::make_room(Agent& agent) {
  while (agent.files.size() > limits_.files_per_agent) {
    const auto oldest = std::ranges::min_element(
        agent.files, {}, [](const auto& entry) { return entry.second.used; });
    agent.files.erase(oldest);
    ++agent.forgotten;
    ++stats_.forgotten;
  }
}

void OffsetTable::make_room_for_agent() {
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

std::vector<std::string> OffsetTable::agents() const {
  std::vector<std::string> names;
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
    Agent& agent = at->second;
    const std::size_t gone = std::erase_if(
        agent.files, [&](const auto& file) { return now - file.second.used > limits_.age; });
    agent.forgotten += gone;
    stats_.forgotten += gone;
    const bool unused = agent.files.empty() && now - agent.used > limits_.age;
    agents_forgotten_ += unused ? 1 : 0;
    at = unused ? agents_.erase(at) : std::next(at);
  }
}

void OffsetTable::save(ByteWriter& out) const {
  out.word(kMagic);
  out.number(agents_forgotten_);
  out.number(agents_.size());
  for (const auto& [name, agent] : agents_) {
    out.text(name);
    out.number(agent.forgotten);
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
  const bool ours = in.word() == kMagic;
  agents_.clear();
  agents_forgotten_ = in.number();
  for (std::size_t left = in.count(4); left > 0 && in.ok(); --left) {
    Agent& agent = agents_[in.text()];
    agent.forgotten = in.number();
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
