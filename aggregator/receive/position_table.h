// The positions up to which each file of one agent is applied, and committed.
//
// AgentServer owns one table per agent. `check` has the rule of docs/WIRE.md. Bounds: 200,000 files
// and 32 MiB of paths; a batch that would exceed them is refused. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::receive {

class PositionTable {
 public:
  enum class Decision : std::uint8_t {
    apply,
    seen,      ///< every byte of the batch is applied already
    gap,       ///< the batch does not begin at the end of the applied bytes
    nothing,   ///< the batch covers no byte: its number decides
    too_many,  ///< the batch would exceed the bounds
  };

  /// `adopts`: an unknown file continues at the offset where the batch begins.
  void load(const std::vector<wire::Position>& positions, bool adopts = false);
  Decision check(const std::vector<wire::Coverage>& coverage) const;
  /// The applied positions of these files, for WANT.
  std::vector<wire::WantedFile> wanted(const std::vector<wire::Coverage>& coverage) const;
  void apply(const std::vector<wire::Coverage>& coverage);
  void commit(const std::vector<wire::Coverage>& coverage);
  /// Forgets the files of which every applied byte is committed; returns their keys.
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
