// Reads the wording of a message: its level, the rank in its header, its shape for folding.
//
// Flow: the decoder asks for each line after it has removed the wrapping. A memo answers for lines
// that differ from earlier ones in digits alone, except for errors and the number of the rank. For
// the decoders of one thread; bounded by kOutlinesMax.
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
  /// `expect` gets the outline of a message as soon as it is known, so that later stages can
  /// prefetch their entries for it.
  explicit WordingReader(std::function<void(const Outline&)> expect = {})
      : expect_(std::move(expect)) {}

  /// Sets text, outline, body, shape and, if it is unknown, the level of the message; its flags
  /// (stamped, origin, ..) must be set before. `indented`: the message with its indentation.
  /// Returns the rank that the header names.
  std::optional<Rank> read(std::string_view indented, Message& message);

 private:
  static constexpr std::size_t kOutlinesMax = 4096;

  struct Wording {
    Level level = Level::unknown;
    Shape shape = Shape::plain;
    bool names_rank = false;  ///< the header names a rank, which is read for each line
    bool is_error = false;    ///< every line is analysed
    bool operator==(const Wording&) const = default;
  };

  std::function<void(const Outline&)> expect_;
  OutlineMemo<Wording> memo_{kOutlinesMax};
  std::string scratch_;
};

}  // namespace l4::decode
