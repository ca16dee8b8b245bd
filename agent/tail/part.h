// What the tailer knows of a log and of the physical files it is made of.
//
// Plain state of LogTable; one thread. A part is some text that began at offset 0 once; what it
// stands in may change: a file is renamed, copied and truncated, packed, deleted while it is held
// open. A part with a *place* has a name or an open file; one without is searched for, and when
// that is over it is *closed*: nothing of it will be read any more.
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

/// The last bytes before where a part was read to: other text has others there.
struct Ending {
  static constexpr std::size_t kMost = 64;
  std::array<char, kMost> bytes{};
  std::uint8_t size = 0;

  std::string_view view() const { return {bytes.data(), size}; }
  void add(std::string_view text);
  void clear() { size = 0; }
};

/// Hashes of the bytes before some offsets, from 64 on at each doubling: whether a file that is
/// shorter than before, or a copy, holds the beginning of its text. At most 47.
struct Marks {
  static constexpr std::uint64_t kFirst = 64;
  std::vector<std::uint64_t> hashes;  ///< 0: those bytes were not read

  /// `text` was read at `offset`, behind `before`.
  void add(std::uint64_t offset, const Ending& before, std::string_view text);
  /// The last one up to `bytes`; none: 0.
  std::uint64_t last_until(std::uint64_t bytes) const;
  bool hold(std::uint64_t offset, std::string_view ending) const;
};

/// Same text under another name, kept in case that the original goes.
struct Copy {
  std::string path;
  std::uint64_t device = 0, inode = 0;
  std::uint64_t bytes = 0;
  TimeMs modified{};
};

struct LogPart {
  wire::FileId id;
  TailedLog* log = nullptr;
  std::string path;  ///< where it stands, or stood last
  discover::RotatedName name;
  std::unique_ptr<TextFile> file;
  std::vector<Copy> copies;
  Ending ending;
  Marks marks;
  std::string head;  ///< its first bytes, as long as its position may not be known

  std::uint64_t read = 0, committed = 0, lines = 0;
  std::uint64_t known = 0;               ///< size of the text as last seen; at least `read`
  std::uint64_t raw = 0;                 ///< size of its file as last seen, packed or not
  std::optional<std::uint64_t> cut;      ///< cut back to here; what was known behind it is lost
  std::optional<std::uint64_t> shorter;  ///< its file is a copy with less than was read: so much
  TimeMs modified{};
  std::uint64_t first_scan = 0;  ///< number of the scan that found it; 0: resumed, not seen yet

  bool named = false;      ///< `path` leads to it
  bool closed = false;     ///< nothing more will be read
  bool dirty = true;       ///< may hold bytes that were not read
  bool packed = false;     ///< its file is
  bool complete = false;   ///< packed, and all was read
  bool truncated = false;  ///< lost its place by truncation
  bool followed = false;   ///< looked at once more since the next part has bytes
  bool verified = false;   ///< packed: its text was compared since it was opened
  bool told = false;       ///< why it can not be read
  bool resumed = false;    ///< from positions, not found yet
  bool skip_old = false;   ///< first seen, and old: begin at the end
  bool started = false;    ///< something of it was given to the sink
  bool ahead = false;      ///< more of it turned out to be counted than was read here

  Millis give_up{0};  ///< search, or holding it open, ends then
  Millis retry{0};    ///< not opened before
  Millis backoff{0};
  Millis alarm{0};  ///< the earliest that is set; 0: none
  Millis unfinished_since{0};
  std::uint64_t used = 0;  ///< number of the visit that used its descriptor last

  bool placed() const { return named || file != nullptr; }
  bool unread() const { return known > read; }
};

struct TailedLog {
  LogId id;
  std::string folder, base;
  std::string path;  ///< under which it was found first
  std::string root;
  std::vector<LogPart*> parts;  ///< oldest first

  std::uint64_t at_key = 0;  ///< part and offset that the sink was given last
  std::uint64_t at_offset = 0;
  Millis last_bytes{0};
  Millis hold{0};  ///< not read before: an older part may turn up
  bool announced = false;
  bool told_truncated = false;  ///< that text may be missing that nobody saw
  bool open_line = false;       ///< the last byte given was no end of a line
  bool offered = true;          ///< quiet was told since
  bool quiet_alarm = false;
  bool queued = false;
};

}  // namespace l4::tail
