#include "agent/decode/envelope.h"

#include <array>

#include "agent/decode/json_text.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

bool parse_stream(text::Cursor& cursor, Stream& stream) {
  if (cursor.accept("stdout")) {
    stream = Stream::out;
    return true;
  }
  if (cursor.accept("stderr")) {
    stream = Stream::err;
    return true;
  }
  return false;
}

/// `2024-01-01T10:00:00.123456789Z stdout F text`; P instead of F: the line continues in the next.
std::optional<Envelope> open_cri(std::string_view line, std::string&) {
  if (line.size() < 30 || line[4] != '-' || line[10] != 'T') return std::nullopt;
  const std::size_t blank = line.substr(0, 48).find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  Envelope envelope;
  text::Cursor cursor{line, blank + 1};
  if (!parse_stream(cursor, envelope.stream) || !cursor.accept(' ')) return std::nullopt;
  const char tag = cursor.peek();
  if (tag != 'F' && tag != 'P') return std::nullopt;
  envelope.partial = tag == 'P';
  ++cursor.at;
  if (cursor.peek() == ':') {  // further tags
    while (!cursor.done() && cursor.peek() != ' ') ++cursor.at;
  }
  if (!cursor.done() && !cursor.accept(' ')) return std::nullopt;
  envelope.time = parse_time(line.substr(0, blank));
  if (!envelope.time) return std::nullopt;
  envelope.content = cursor.rest();
  return envelope;
}

/// Keeps the last CR state, as the framer does for bare lines.
std::string_view last_state(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  const std::size_t cr = text.rfind('\r');
  return cr == std::string_view::npos ? text : text.substr(cr + 1);
}

std::optional<Envelope> open_docker(std::string_view line, std::string& scratch) {
  text::Cursor cursor{line};
  if (!cursor.accept("{\"log\":\"")) return std::nullopt;
  scratch.clear();
  if (!parse_json_string(cursor, scratch)) return std::nullopt;
  Envelope envelope;
  const std::string_view tail = cursor.rest();
  const auto value_of = [&](std::string_view key) {
    const std::size_t at = tail.find(key);
    if (at == std::string_view::npos) return std::string_view{};
    const std::string_view value = tail.substr(at + key.size());
    return value.substr(0, value.find('"'));
  };
  text::Cursor stream{value_of("\"stream\":\"")};
  if (!parse_stream(stream, envelope.stream)) return std::nullopt;
  envelope.time = parse_time(value_of("\"time\":\""));
  envelope.partial = !scratch.ends_with('\n');
  envelope.content = last_state(scratch);
  return envelope;
}

struct EnvelopeKind {
  std::string_view first;  ///< characters a wrapped line may begin with
  std::optional<Envelope> (*open)(std::string_view line, std::string& scratch);
};

constexpr std::array kEnvelopes{
    EnvelopeKind{"12", open_cri},
    EnvelopeKind{"{", open_docker},
};

/// Whether some row may open a line, by the line's first character.
constexpr std::array<bool, 256> kOpens = [] {
  std::array<bool, 256> opens{};
  for (const EnvelopeKind& kind : kEnvelopes)
    for (const char c : kind.first) opens[static_cast<unsigned char>(c)] = true;
  return opens;
}();

}  // namespace

bool may_be_wrapped(std::string_view line) {
  return !line.empty() && kOpens[static_cast<unsigned char>(line[0])];
}

std::optional<Envelope> open_envelope(std::string_view line, std::string& scratch) {
  if (!may_be_wrapped(line)) return std::nullopt;
  for (const EnvelopeKind& kind : kEnvelopes)
    if (kind.first.find(line[0]) != std::string_view::npos)
      if (auto envelope = kind.open(line, scratch)) return envelope;
  return std::nullopt;
}

}  // namespace l4::decode
