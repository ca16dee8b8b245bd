// Records of the journal beside batches, for reports of the past: news of agents, and starts of the
// aggregator.
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
/// Empty if the bytes are not a note.
std::optional<Note> decode_note(std::span<const std::byte> bytes);

}  // namespace l4::past
