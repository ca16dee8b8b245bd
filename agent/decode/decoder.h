// Bytes of one file in, records out: framing, envelopes, ANSI, prefixes, time stamps, levels, the
// texts of several writers in one line taken apart, JSON over several lines and tracebacks folded
// into one record.
//
// Flow: agent/pipeline feeds chunks of a (decompressed) file. One decoder per file, one thread.
// Every byte belongs to exactly one record or is counted in `Stats` (blank lines are counted as
// lines but give no record). Bounds: a line longer than `line_bytes_max` is cut and counted; a
// folded record holds at most `fold_lines_max` lines. No input can break it: NUL bytes and invalid
// UTF-8 are replaced, lines of binary data are left out, and all are counted. No allocation per
// line, no regex. Records of one voice come in file order; a record that waits for further lines
// (warning, error, traceback) may come after later lines of other voices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/decode/record.h"
#include "agent/stamps/clock_steps.h"

namespace l4::decode {

class WordingReader;

struct Options {
  std::size_t line_bytes_max = 16 * 1024;
  std::size_t fold_lines_max = 2'000;  ///< 1: each line is a record of its own
  /// Offset of local times to UTC for lines without a zone.
  Millis zone{0};
  /// Completes stamps without a year (glog, syslog): a time near the file's, usually its mtime.
  std::optional<TimeMs> year_hint = {};
  /// A time near those that the file prints, if one is known: others are left out.
  std::optional<TimeMs> usual_time = {};
  /// Every time that is printed counts, also one that is far from all others.
  bool every_time = false;
};

struct Stats {
  std::uint64_t bytes = 0, lines = 0, blank_lines = 0, records = 0, lines_with_time = 0;
  std::uint64_t lines_with_rank = 0, cut_lines = 0, invalid_utf8 = 0, nul_bytes = 0, updates = 0;
  /// Bytes that are neither text nor white space: their share decides whether a file is binary.
  std::uint64_t binary_bytes = 0;
  /// Binary lines (see clean.h), which give no record.
  std::uint64_t lines_not_text = 0, bytes_not_text = 0;
  std::uint64_t cut_bytes = 0;  ///< bytes left out of the cut lines
  /// Lines that several writers have written, and the pieces of these lines beyond the first.
  std::uint64_t glued_lines = 0, further_pieces = 0;
  std::uint64_t joined_lines = 0;  ///< lines that were joined to JSON records
  std::uint64_t wide_lines = 0;    ///< lines of UTF-16 among other text
  stamps::ClockSteps clock;
};

/// A position in the text of a file.
struct LinePosition {
  std::uint64_t bytes = 0, lines = 0;  ///< bytes and lines before the position
  bool operator==(const LinePosition&) const = default;
};

/// How far a decoder has come. Bytes that wait for their block to fill stand behind `front`.
struct Progress {
  LinePosition given;       ///< everything before it was given, as records or counts
  LinePosition front;       ///< begin of the next line; behind `given` while records wait
  bool unfinished = false;  ///< the next line has begun
  bool bar = false;         ///< the next line is a progress bar, which may never end
};

class Decoder {
 public:
  using Sink = std::function<void(const Record&)>;  // called per record, built once per file

  /// `wording`: shared by the decoders of one thread, so that wordings are learned once for all
  /// files; it must outlive them. Null: the decoder has its own.
  Decoder(Options options, Sink sink, WordingReader* wording = nullptr);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Sets the line number and the offset of the next byte, to begin in the middle of a file.
  void start_at(std::uint64_t line, std::uint64_t offset);
  /// Learns the prefixes of lines from the text before the first byte that will be fed; gives no
  /// records.
  void learn_prefixes(std::string_view text);
  void feed(std::string_view chunk);
  /// Decodes the bytes that wait for their block (64 KiB) to fill, for a live file that is quiet.
  /// An unfinished line stays open.
  void flush_block();
  /// Gives the records that wait for more lines; an unfinished line stays open.
  void release_held();
  /// Gives the unfinished line, if there is one; its further bytes become another piece of it.
  void emit_unfinished();
  /// Ends the last line but not the folds, because the next file of a rotated log follows.
  void end_part();
  /// Ends the last line and the last fold.
  void finish();

  Progress progress() const;

  const Stats& stats() const;
  /// Name of the time format that most lines had ("iso", "python", "glog", ...), else "none".
  std::string_view time_format() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::decode
