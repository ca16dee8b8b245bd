// What the journal holds beside batches, so that a look at the past knows it: what was said of
// agents, and that the aggregator was started.
//
// Flow: Intake and Aggregator -> Store::note; Store::read_past -> PastJob. Values.
#pragma once

#include <optional>
#include <span>

#include "aggregator/receive/observer.h"
#include "common/base/byte_stream.h"

namespace l4::past {

struct Note {
  std::optional<receive::AgentEvent> event;  ///< none: the aggregator was started
  TimeMs at{};
};

ByteWriter encode(const Note& note);
/// Empty if the bytes are none.
std::optional<Note> decode_note(std::span<const std::byte> bytes);

}  // namespace l4::past
