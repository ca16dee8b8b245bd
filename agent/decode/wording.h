// What the wording of a message tells: its level, the rank in its header, the part it may play in
// a fold.
//
// Flow: Decoder asks for each line whose wrapping is off. Lines that differ from many before in
// digits alone are answered from a memo, but for errors and the number of the rank. For any
// decoders of one thread; bounded by kOutlinesMax.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/decode/fold.h"
#include "common/base/ids.h"
#include "common/base/outline_memo.h"

namespace l4::decode {

class WordingReader {
 public:
  /// `expect`: told the outline of a message as soon as it is known, so that who asks for it once
  /// the message is folded can fetch what is known of it meanwhile.
  explicit WordingReader(std::function<void(const Outline&)> expect = {})
      : expect_(std::move(expect)) {}

  /// `indented`: the message with its indentation. Sets text, outline, body, shape and, if it is
  /// unknown, the level of the message, whose marks (stamped, origin, ..) must be set. Returns the
  /// rank that the header names.
  std::optional<Rank> read(std::string_view indented, Message& message);

 private:
  static constexpr std::size_t kOutlinesMax = 4096;

  struct Wording {
    Level level = Level::unknown;
    Shape shape = Shape::plain;
    bool names_rank = false;  ///< in its header, which is read for each line
    bool is_error = false;    ///< each line must be looked at
    bool operator==(const Wording&) const = default;
  };

  std::function<void(const Outline&)> expect_;
  OutlineMemo<Wording> memo_{kOutlinesMax};
  std::string scratch_;
};

}  // namespace l4::decode
