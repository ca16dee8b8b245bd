// Up to where each file of one agent is counted: applied now, committed for good.
//
// Owned by AgentServer, one per agent it knows. The rule of docs/WIRE.md stands in `check`. Bounds:
// 200,000 files and 32 MiB of paths; a batch that would break them is refused. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::receive {

class PositionTable {
 public:
  enum class Verdict : std::uint8_t {
    apply,
    seen,     ///< all of it is applied already
    gap,      ///< begins behind, or within, what is applied
    nothing,  ///< covers no byte: positions cannot tell
    too_many,
  };

  /// `adopts`: files that are not known are taken on where they stand.
  void load(const std::vector<wire::Position>& positions, bool adopts = false);
  Verdict check(const std::vector<wire::Coverage>& coverage) const;
  /// What is applied of these files, for WANT.
  std::vector<wire::WantedFile> wanted(const std::vector<wire::Coverage>& coverage) const;
  void apply(const std::vector<wire::Coverage>& coverage);
  void commit(const std::vector<wire::Coverage>& coverage);
  /// Forgets files of which everything is committed; gives those.
  std::vector<std::uint64_t> release(const std::vector<std::uint64_t>& keys);

  /// Committed positions with keys behind `after` (0: from the first), as many as fit.
  wire::PositionPage page(std::uint64_t after, std::size_t bytes_max) const;
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    wire::Position committed;
    std::uint64_t applied = 0;
  };
  std::uint64_t applied(std::uint64_t key) const;

  std::map<std::uint64_t, File> files_;
  std::size_t path_bytes_ = 0;
  bool adopts_ = false;
};

}  // namespace l4::receive
