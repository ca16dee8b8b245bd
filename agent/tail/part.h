// The state of a log and of the parts that it is made of.
//
// Plain state of LogTable; one thread. A part is a text that began at offset 0 once. The file that
// holds it may change: a file is renamed, copied and truncated, packed, or deleted while it is held
// open. A *placed* part has a name or an open file. A part that is not placed is searched for; when
// the search is over it is *closed*: nothing of it will be read any more.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/rotation.h"
#include "agent/tail/sink.h"
#include "agent/tail/tailer.h"
#include "agent/tail/text_file.h"

namespace l4::tail {

struct TailedLog;

/// The last bytes before the offset that a part was read to. Another text differs there.
struct Ending {
  static constexpr std::size_t kMost = 64;
  std::array<char, kMost> bytes{};
  std::uint8_t size = 0;

  std::string_view view() const { return {bytes.data(), size}; }
  void add(std::string_view text);
  void clear() { size = 0; }
};

/// Hashes of the 64 bytes before offset 64 and each doubling of it, at most 47. They show whether a
/// shortened file, or a copy, holds the beginning of the text.
struct Marks {
  static constexpr std::uint64_t kFirst = 64;
  std::vector<std::uint64_t> hashes;  ///< 0: those bytes were not read

  /// Adds the marks in `text`, which was read at `offset` and follows `before`.
  void add(std::uint64_t offset, const Ending& before, std::string_view text);
  /// Offset of the last mark up to `bytes`; 0 if there is none.
  std::uint64_t last_until(std::uint64_t bytes) const;
  bool hold(std::uint64_t offset, std::string_view ending) const;
};

/// A file with the same text under another name, kept in case the original disappears.
struct Copy {
  std::string path;
  std::uint64_t device = 0, inode = 0;
  std::uint64_t bytes = 0;
  TimeMs modified{};
};

struct LogPart {
  wire::FileId id;
  TailedLog* log = nullptr;
  std::string path;  ///< path of its present or last file
  discover::RotatedName name;
  std::unique_ptr<TextFile> file;
  std::vector<Copy> copies;
  Ending ending;
  Marks marks;
  std::string head;  ///< its first bytes, while its position may be unknown

  std::uint64_t read = 0, committed = 0, lines = 0;
  std::uint64_t known = 0;  ///< size of the text as last seen; at least `read`
  std::uint64_t raw = 0;    ///< size of its file as last seen, packed or not
  std::optional<std::uint64_t>
      cut;  ///< the file was cut back to here; known bytes behind it are lost
  std::optional<std::uint64_t> shorter;  ///< size of a copy that holds less than was read
  TimeMs modified{};
  std::optional<std::uint32_t> user;  ///< owner of its file
  std::uint64_t first_scan = 0;  ///< number of the scan that found it; 0: resumed, not seen yet

  bool named = false;      ///< `path` leads to it
  bool closed = false;     ///< nothing more will be read
  bool dirty = true;       ///< may hold bytes that were not read
  bool packed = false;     ///< its file is packed
  bool complete = false;   ///< packed, and all was read
  bool truncated = false;  ///< its file was truncated
  bool followed = false;   ///< was read once more after the next part got bytes
  bool verified = false;   ///< packed: its text was compared since it was opened
  bool warned = false;     ///< a warning says why it cannot be read
  bool resumed = false;    ///< known from positions, not found yet
  bool skip_old = false;   ///< old when it was found: begin at the end
  bool started = false;    ///< the sink got something of it
  bool ahead = false;      ///< the aggregator counts bytes of it that were not read here

  Millis give_up{0};  ///< end of the search, or of the time that its file is held open
  Millis retry{0};    ///< not opened before then
  Millis backoff{0};
  Millis alarm{0};  ///< the earliest alarm that is set; 0: none
  Millis unfinished_since{0};
  std::uint64_t used = 0;  ///< number of the visit that used its descriptor last

  bool placed() const { return named || file != nullptr; }
  bool unread() const { return known > read; }
};

struct TailedLog {
  LogId id;
  std::string folder, base;
  std::string path;  ///< the path that it was found under first
  std::string root;
  std::vector<LogPart*> parts;  ///< oldest first

  std::uint64_t at_key = 0;  ///< part and offset behind the bytes that the sink got last
  std::uint64_t at_offset = 0;
  Millis last_bytes{0};
  Millis hold{0};  ///< not read before then: an older part may turn up
  bool announced = false;
  bool warned_truncated = false;  ///< a warning says that unseen text may be missing
  bool open_line = false;         ///< the last byte for the sink was not the end of a line
  bool offered = true;            ///< the sink got `quiet` since the last bytes
  bool quiet_alarm = false;
  bool queued = false;
};

}  // namespace l4::tail
