// What the tailer says: bytes of logs, in order, and what is missing of them.
//
// A *log* is what one program writes: X.log with all that it was rotated into. Its *parts* are
// physical files, each with a wire::FileId and offsets of its own (of the unpacked text; text that
// was truncated away and text written since are two parts). One decoder per log:
//
// - log_begins: a decoder is made.
// - part: end the line; what follows stands elsewhere (Decoder::end_part).
// - bytes: feed; whole lines or not: whoever decodes does the framing.
// - missing: these bytes will not come; cover them as if they had. is_loss says if they are lost.
// - quiet: nothing for 1 s: what is fed is all there is, a last line without its end too.
// - log_ends: finish the decoder; the id is not used again.
// - forgotten: all of a file is committed and the file is gone: so may its position be.
//
// Views and references hold during the call. Calls come from Tailer::turn, on its thread; a sink
// must not call the tailer back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::tail {

using LogId = Named<struct LogTag, std::uint32_t>;

enum class Missing : std::uint8_t {
  old,        ///< was there before the agent and is older than Options::old_after: not wanted
  truncated,  ///< cut off before it was read, and no copy was found
  deleted,    ///< deleted, and not held open, before it was read
  held,       ///< deleted, and still not read when Options::deleted_hold was over
  gone,       ///< left while no agent ran, or to where it can not be seen
  damaged,    ///< packed, and can not be unpacked
  counted,    ///< given under another FileId before: the file was cut back to here and goes on
};

/// "deleted before it was read": for wire::Warning and counters.
std::string_view reason_of(Missing why);
/// Bytes that somebody wanted and has not.
inline bool is_loss(Missing why) {
  return why != Missing::old && why != Missing::counted;
}

struct TextPosition {
  LogId log;
  const wire::FileId& file;
  const std::string& path;   ///< of the physical file now, or where it was last
  std::uint64_t offset = 0;  ///< of the first byte
  std::uint64_t known = 0;   ///< size of the text as far as known
};

struct LogBegin {
  LogId log;
  const std::string& path;  ///< under which it was found: says node and rank
  const std::string& root;  ///< the source that it was found for, a folder
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void log_begins(const LogBegin& log) = 0;
  /// `lines`: committed lines of the part if place.offset is its committed offset, else 0.
  virtual void part(const TextPosition& place, std::uint64_t lines) = 0;
  virtual void bytes(const TextPosition& place, std::string_view bytes) = 0;
  virtual void missing(const TextPosition& place, std::uint64_t to, Missing why) = 0;
  virtual void quiet(LogId log) = 0;
  virtual void log_ends(LogId log) = 0;
  virtual void forgotten(const wire::FileId& file) = 0;
  virtual void warning(const wire::Warning& warning) = 0;
};

}  // namespace l4::tail
