#include "aggregator/past/note.h"

#include <utility>

namespace l4::past {
namespace {

constexpr std::uint8_t kStarted = 0xff;  ///< differs from every kind of event

}  // namespace

ByteWriter encode(const Note& note) {
  ByteWriter out;
  out.byte(note.event ? static_cast<std::uint8_t>(note.event->kind) : kStarted);
  out.signed_number(note.at.time_since_epoch().count());
  if (!note.event) return out;
  out.text(note.event->agent);
  out.signed_number(note.event->heard.time_since_epoch().count());
  return out;
}

std::optional<Note> decode_note(std::span<const std::byte> bytes) {
  using Kind = receive::AgentEvent::Kind;
  ByteReader in(bytes);
  const std::uint8_t kind = in.byte();
  Note note;
  note.at = TimeMs{Millis{in.signed_number()}};
  if (kind != kStarted) {
    if (kind > static_cast<std::uint8_t>(Kind::away)) return std::nullopt;
    receive::AgentEvent event;
    event.kind = static_cast<Kind>(kind);
    event.at = note.at;
    event.agent = in.text();
    event.heard = TimeMs{Millis{in.signed_number()}};
    note.event = std::move(event);
  }
  if (!in.ok() || in.left() > 0) return std::nullopt;
  return note;
}

}  // namespace l4::past
