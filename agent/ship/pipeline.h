// The interface of the link to the rest of the agent. Implemented by daemon::Agent.
//
// Called by ship::Session from within `step`, on its thread; calls must not come back into the
// session. Positions are the aggregator's (docs/WIRE.md, "Positions are the sequence").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::ship {

enum class NoticeKind : std::uint8_t {
  news,
  trouble,
  recovery,  ///< the end of a trouble that was reported
};

class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// Read every file on from these positions, and files without a position from their beginning.
  /// Called after the first WELCOME, and whenever the positions of the aggregator do not fit the
  /// batches that were offered (it lost its store, the spool was damaged). All offered batches are
  /// dropped, with their definitions: define again what is used.
  virtual void read_from(const std::vector<wire::Position>& committed) = 0;
  /// Whether the file was read on from a saved position. Asked at the first WELCOME, for an agent
  /// that began to read before it.
  virtual bool knows(std::uint64_t file_key) const {
    static_cast<void>(file_key);
    return true;
  }
  /// The aggregator has counted these bytes durably.
  virtual void committed(const std::vector<wire::Coverage>& coverage) = 0;
  virtual void question(const wire::Ask& question) = 0;
  /// An event for the agent's log: connected, refused and why. False: the log suppressed it, as it
  /// had the same text not long ago; then the same event may come again. An event that was logged
  /// does not come twice in a row.
  virtual bool notify(NoticeKind kind, std::string_view what) = 0;
};

}  // namespace l4::ship
