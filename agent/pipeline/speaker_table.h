// The speakers of one file, each of which becomes a source.
//
// Place in the flow: JobPipeline asks it for the speaker of every record. A file of one rank (by
// its path) has one speaker, whose rank is given by the path or by most of its lines; any other
// file has a speaker for each (host, rank, local rank) that its prefixes name. A kernel message
// that names a process of a rank gets a source of the kernel that has this rank. One per file, one
// thread. Bounded: beyond kSpeakersMax further speakers share the file's first, and further ranks
// get no votes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/decode/record.h"
#include "agent/discover/discover.h"
#include "common/base/flat_table.h"
#include "common/wire/batch.h"

namespace l4::pipeline {

/// The rank that a record is about. The text need not name that rank: a kernel message names only
/// its process.
struct Attribution {
  std::string node;
  Rank rank;
  std::int32_t attempt = 0;  ///< each start of the rank gets a source of its own
};

class SpeakerTable {
 public:
  static constexpr std::size_t kSpeakersMax = 16'384;

  /// `file` must outlive the table.
  explicit SpeakerTable(const discover::LogFile& file) : file_(&file) {}
  explicit SpeakerTable(discover::LogFile&& file) = delete;

  struct Found {
    std::size_t speaker = 0;  ///< dense from 0 in this file
    bool created = false;
  };
  Found find(const decode::Speaker& speaker);
  Found find(const Attribution& attribution);
  /// Index of a speaker that find() has returned before; 0 for an unknown one.
  std::size_t lookup(const decode::Speaker& speaker) const;
  /// The current definition of a speaker, without its id.
  wire::SourceDefinition definition(std::size_t speaker) const;
  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string host;
    std::int32_t rank = -1;
    std::int32_t local_rank = -1;
    std::int32_t attempt = -1;  // an Attribution's
    auto operator<=>(const Key&) const = default;
  };
  Found place_of(Key key);
  void vote(Rank rank);
  bool one_speaker() const { return file_->kind == wire::SourceKind::rank; }
  std::optional<Rank> voted_rank() const;

  const discover::LogFile* file_;
  std::vector<Key> keys_;
  std::map<Key, std::size_t> places_;
  FlatTable<std::uint64_t> rank_votes_;  // by rank: lines that name it
  mutable std::size_t last_ = 0;
};

}  // namespace l4::pipeline
