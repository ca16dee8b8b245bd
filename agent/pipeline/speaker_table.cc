#include "agent/pipeline/speaker_table.h"

#include <algorithm>

#include "common/base/check.h"

namespace l4::pipeline {
namespace {

template <class Key>
bool same(const decode::Speaker& speaker, const Key& key) {
  return (speaker.rank ? speaker.rank->value() : -1) == key.rank &&
         speaker.local_rank.value_or(-1) == key.local_rank && key.attempt < 0 &&
         speaker.host == key.host;
}

}  // namespace

SpeakerTable::Found SpeakerTable::find(const decode::Speaker& speaker) {
  if (one_speaker()) {
    if (speaker.rank && !file_->rank) vote(*speaker.rank);  // otherwise no vote is needed
    if (!keys_.empty()) return {0, false};
    keys_.push_back({});
    return {0, true};
  }
  if (last_ < keys_.size()) {
    if (same(speaker, keys_[last_])) return {last_, false};
  }
  if (keys_.size() >= kSpeakersMax) return {lookup(speaker), false};
  return place_of({std::string(speaker.host), speaker.rank ? speaker.rank->value() : -1,
                   speaker.local_rank.value_or(-1)});
}

SpeakerTable::Found SpeakerTable::find(const Attribution& attribution) {
  Key key{attribution.node, attribution.rank.value(), -1, std::max(attribution.attempt, 0)};
  if (keys_.size() < kSpeakersMax) return place_of(std::move(key));
  const auto known = places_.find(key);
  return {known == places_.end() ? 0 : known->second, false};
}

SpeakerTable::Found SpeakerTable::place_of(Key key) {
  const auto [place, created] = places_.try_emplace(key, keys_.size());
  if (created) keys_.push_back(std::move(key));
  last_ = place->second;
  return {last_, created};
}

std::size_t SpeakerTable::lookup(const decode::Speaker& speaker) const {
  if (one_speaker()) return 0;
  if (last_ < keys_.size()) {
    if (same(speaker, keys_[last_])) return last_;
  }
  const auto place =
      places_.find({std::string(speaker.host), speaker.rank ? speaker.rank->value() : -1,
                    speaker.local_rank.value_or(-1)});
  return last_ = place == places_.end() ? 0 : place->second;
}

void SpeakerTable::vote(Rank rank) {
  const std::uint64_t key = std::uint64_t{1} << 32 | static_cast<std::uint32_t>(rank.value());
  if (std::uint64_t* votes = rank_votes_.find(key); votes != nullptr)
    ++*votes;
  else if (rank_votes_.size() < kSpeakersMax)
    rank_votes_[key] = 1;
}

/// The rank named by most of the lines that name a rank.
std::optional<Rank> SpeakerTable::voted_rank() const {
  std::uint64_t all = 0, most = 0, best = 0;
  rank_votes_.for_each_entry([&](std::uint64_t key, std::uint64_t votes) {
    all += votes;
    if (votes > most) best = key;
    most = std::max(most, votes);
  });
  if (most * 2 <= all) return std::nullopt;
  return Rank{static_cast<std::int32_t>(static_cast<std::uint32_t>(best))};
}

wire::SourceDefinition SpeakerTable::definition(std::size_t speaker) const {
  L4_CHECK(speaker < keys_.size(), "speaker {} of {} in {}", speaker, keys_.size(), file_->name);
  const Key& key = keys_[speaker];
  wire::SourceDefinition source;
  source.path = file_->name;
  source.node = key.host.empty() || file_->node_known ? file_->node : key.host;
  source.kind = file_->kind;
  source.attempt = file_->attempt;
  source.modified = file_->modified;
  source.user = file_->user;
  if (key.attempt >= 0) {
    source.node = key.host;
    source.attempt = key.attempt;
    source.rank = Rank{key.rank};
    source.rank_source = RankSource::env;
    return source;
  }
  source.rank = file_->rank;
  source.local_rank = file_->local_rank;
  if (source.rank) source.rank_source = RankSource::env;
  if (one_speaker()) {
    if (const auto voted = voted_rank(); !source.rank && voted) {
      source.rank = voted;
      source.rank_source = RankSource::line;
    }
    return source;
  }
  if (key.rank >= 0) {
    source.rank = Rank{key.rank};
    source.rank_source = RankSource::line;
  }
  if (key.local_rank >= 0) source.local_rank = key.local_rank;
  if (key.rank >= 0 || key.local_rank >= 0) source.kind = wire::SourceKind::rank;
  return source;
}

}  // namespace l4::pipeline
