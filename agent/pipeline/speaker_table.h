// The speakers of one file: who says a line, and which source that is.
//
// Place in the flow: JobPipeline asks it for every record. A file of one rank (by its path)
// has one speaker, whose rank is the path's or the one most of its lines name; any other file gets
// a source per (host, rank, local rank) that its prefixes tell apart. A kernel message may be a
// rank's by the process that it names: such a source is the kernel's still, and that rank's.
// One per file, one thread. Bounded: past kSpeakersMax further speakers share the file's first,
// and further ranks have no votes.
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

/// Whose a record is that its text does not say: of a kernel message that names a process.
struct Whose {
  std::string node;
  Rank rank;
  std::int32_t attempt = 0;  ///< messages about another start of the rank are another source
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
  Found find(const Whose& whose);
  /// Place of a speaker that find() has given before; 0 for an unknown one.
  std::size_t lookup(const decode::Speaker& speaker) const;
  /// Definition of a speaker as known now, without its id.
  wire::SourceDefinition definition(std::size_t speaker) const;
  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string host;
    std::int32_t rank = -1;
    std::int32_t local_rank = -1;
    std::int32_t attempt = -1;  // of Whose
    auto operator<=>(const Key&) const = default;
  };
  Found place_of(Key key);
  void vote(Rank rank);
  bool one_speaker() const { return file_->kind == wire::SourceKind::rank; }
  std::optional<Rank> voted_rank() const;

  const discover::LogFile* file_;
  std::vector<Key> keys_;
  std::map<Key, std::size_t> places_;
  FlatTable<std::uint64_t> rank_votes_;  // lines that name a rank
  mutable std::size_t last_ = 0;
};

}  // namespace l4::pipeline
