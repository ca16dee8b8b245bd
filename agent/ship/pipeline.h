// What the link needs of the rest of the agent. Implemented by whoever composes `l4-agent`.
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

enum class Saying : std::uint8_t {
  news,
  trouble,
  recovery,  ///< from trouble that was told
};

class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// After the first WELCOME, and whenever what the aggregator has does not fit to what was offered
  /// (it lost its store, the spool was damaged): read every file on from here, files that are not
  /// named from their beginning. Nothing that was offered before is kept, also no definition in it:
  /// define again whatever is used.
  virtual void read_from(const std::vector<wire::Position>& committed) = 0;
  /// Before the first WELCOME: was this file read on from a remembered position? For those who
  /// begin to read before it.
  virtual bool knows(std::uint64_t file_key) const {
    static_cast<void>(file_key);
    return true;
  }
  /// These bytes are counted for good.
  virtual void committed(const std::vector<wire::Coverage>& coverage) = 0;
  /// Templates of a job that the aggregator does not know: define them with the next batch.
  virtual void define_again(const std::string& job,
                            const std::vector<LocalTemplateId>& templates) = 0;
  virtual void asked(const wire::Ask& question) = 0;
  /// For the agent's log: connected, refused and why. False: it was not told, as it was not long
  /// ago; then the same may come again. What was told does not come twice in a row.
  virtual bool said(Saying kind, std::string_view what) = 0;
};

}  // namespace l4::ship
