#include "agent/decode/wording.h"

#include <algorithm>

#include "agent/decode/header.h"
#include "agent/text/level.h"
#include "agent/text/scan.h"
#include "common/base/hash.h"

namespace l4::decode {
namespace {

constexpr std::size_t kOriginBytes = 100;

/// The text behind `file.cpp:49] ` of glog and NeMo, which is not part of the message.
std::string_view behind_origin(std::string_view text) {
  const std::size_t close = text.substr(0, kOriginBytes).find("] ");
  return close == std::string_view::npos ? text : text.substr(close + 2);
}

/// The text behind syslog's `python3[4711]: `.
std::string_view behind_program(std::string_view text) {
  const std::size_t colon = text.substr(0, kOriginBytes).find(": ");
  return colon == std::string_view::npos ? text : text.substr(colon + 2);
}

/// The message proper. `logged`: the text behind the level in a logger's header.
std::string_view body_of(std::string_view text, const Message& message, std::string_view logged) {
  if (message.fields) return text;
  if (message.origin) return behind_origin(text);
  if (message.program) return behind_program(text);
  const bool whole = logged.size() == text.size() || logged.empty();
  return message.stamped && message.record.level >= Level::error && !whole ? logged : text;
}

/// Reads the wording of a message without the memo.
std::optional<Rank> analyse(std::string_view indented, Message& message) {
  Record& record = message.record;
  record.text = text::trim(indented);
  const Header header = scan_header(record.text, message.stamped);
  if (record.level == Level::unknown) record.level = header.level;
  message.body =
      body_of(indented, message, record.text.substr(std::min(header.end, record.text.size())));
  if (record.level == Level::unknown)
    record.level = text::level_of_message(text::trim_left(message.body));
  message.shape = shape_of(message.body, record.level);
  return header.rank;
}

/// Mixes into the outline everything besides the text that the result depends on. `blanks`: number
/// of blanks before the text.
Outline with_marks(Outline outline, const Message& message, std::size_t blanks) {
  const auto marks = static_cast<std::uint64_t>(message.record.level) << 8 | blanks << 4 |
                     std::uint64_t{message.stamped} << 3 | std::uint64_t{message.origin} << 2 |
                     std::uint64_t{message.fields} << 1 | std::uint64_t{message.program};
  outline.collapsed = hashing::fold(outline.collapsed + marks, hashing::kA);
  outline.sized = hashing::fold(outline.sized + marks, hashing::kA);
  return outline;
}

}  // namespace

std::optional<Rank> WordingReader::read(std::string_view indented, Message& message) {
  const std::string_view text = text::trim(indented);
  const auto blanks = static_cast<std::size_t>(text.data() - indented.data());
  message.record.outline = outline_of(text);
  if (expect_) expect_(message.record.outline);
  const bool usual = blanks <= 1 && blanks + text.size() == indented.size();
  if (!usual || message.record.outline.collapsed == 0) return analyse(indented, message);

  const Outline outline = with_marks(message.record.outline, message, blanks);
  if (const Wording* known = memo_.find(outline); known != nullptr) {
    if (known->is_error) return analyse(indented, message);
    message.record.text = text;
    message.record.level = known->level;
    message.body = body_of(indented, message, {});
    message.shape = known->shape;
    return known->names_rank ? scan_header(text, message.stamped).rank : std::nullopt;
  }
  const Message given = message;
  const auto wording_of = [&](const Message& seen, bool rank) {
    return Wording{seen.record.level, seen.shape, rank, seen.record.level >= Level::error};
  };
  const auto rank = analyse(indented, message);
  const auto find_out = [&](std::string_view other) {
    Message seen = given;
    scratch_.assign(blanks, ' ').append(other);
    const bool named = analyse(scratch_, seen).has_value();
    return wording_of(seen, named);
  };
  memo_.note(outline, text, wording_of(message, rank.has_value()), find_out,
             [](std::string_view) { return false; });
  return rank;
}

}  // namespace l4::decode
