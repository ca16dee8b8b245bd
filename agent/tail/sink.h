// The output of the tailer: bytes of logs, in order, and which bytes are missing.
//
// A *log* is the output of one program: X.log with all files that it was rotated into. Its *parts*
// are texts, each with a wire::FileId and offsets of its own (of the unpacked text; the text before
// a truncation and the text after it are two parts). One decoder per log:
//
// - log_begins: make a decoder.
// - part: end the line; the next bytes are of another part or offset (Decoder::end_part).
// - bytes: feed; they need not end with a line, the decoder does the framing.
// - missing: these bytes will not come; cover them as if they had. is_loss says if they are lost.
// - quiet: nothing came for 1 s: also a last line without its end is complete.
// - log_ends: finish the decoder; the id is not used again.
// - forgotten: a file is gone and all of it is committed: its position may be forgotten.
//
// Views and references hold during the call. Calls come from Tailer::turn, on its thread; a sink
// must not call the tailer back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::tail {

using LogId = Named<struct LogTag, std::uint32_t>;

enum class Missing : std::uint8_t {
  old,        ///< older than Options::old_after when the agent found it: not wanted
  truncated,  ///< cut off before it was read, and no copy was found
  deleted,    ///< deleted, and not held open, before it was read
  held,       ///< deleted, and still not read when Options::deleted_hold was over
  gone,       ///< disappeared while the agent was down, or moved to a folder that is not followed
  damaged,    ///< packed, and cannot be unpacked
  counted,    ///< read under another FileId before: the file was cut back and goes on here
};

/// "deleted before it was read": for wire::Warning and counters.
std::string_view reason_of(Missing why);
/// Whether wanted bytes are lost.
inline bool is_loss(Missing why) {
  return why != Missing::old && why != Missing::counted;
}

/// The place of bytes in a log.
struct TextPosition {
  LogId log;
  const wire::FileId& file;
  const std::string& path;                 ///< path of the present or last file
  std::uint64_t offset = 0;                ///< offset of the first byte
  std::uint64_t known = 0;                 ///< known size of the text
  std::optional<std::uint32_t> user = {};  ///< number of the file's owner, if known
};

struct LogBegin {
  LogId log;
  const std::string& path;  ///< path under which the file was found; tells node and rank
  const std::string& root;  ///< folder of the source that it was found for
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void log_begins(const LogBegin& log) = 0;
  /// `lines`: committed lines of the part if the offset is its committed offset, else 0.
  virtual void part(const TextPosition& place, std::uint64_t lines) = 0;
  virtual void bytes(const TextPosition& place, std::string_view bytes) = 0;
  virtual void missing(const TextPosition& place, std::uint64_t to, Missing why) = 0;
  virtual void quiet(LogId log) = 0;
  virtual void log_ends(LogId log) = 0;
  virtual void forgotten(const wire::FileId& file) = 0;
  virtual void warning(const wire::Warning& warning) = 0;
};

}  // namespace l4::tail
