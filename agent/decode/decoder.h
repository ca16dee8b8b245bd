// Bytes of one file in, records out: framing, envelopes, ANSI, prefixes, time stamps, levels, and
// tracebacks folded into one record (design.md 3 "frame and decode", algorithms.md 5).
//
// Flow: agent/pipeline feeds chunks of a (decompressed) file. One decoder per file, one thread.
// Every byte given is accounted for in exactly one record or in `Stats` (blank lines are counted
// as lines but give no record). Bounds: a line longer than `line_bytes_max` is cut and counted, a
// folded record holds at most `fold_lines_max` lines. Input never breaks it: NUL bytes and invalid
// UTF-8 are replaced, lines of binary garbage left out, all counted. Hot path: no allocation per
// line, no regex. Records of one voice come in file order; one that waits for further lines
// (warnings, errors, tracebacks) may come after later lines of other voices.
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
  std::size_t fold_lines_max = 2'000;
  /// Offset of local times to UTC for lines without a zone.
  Millis zone{0};
  /// For stamps without a year (glog, syslog): a time near the file's, usually its mtime.
  std::optional<TimeMs> year_hint = {};
};

struct Stats {
  std::uint64_t bytes = 0, lines = 0, blank_lines = 0, records = 0, lines_with_time = 0;
  std::uint64_t lines_with_rank = 0, cut_lines = 0, invalid_utf8 = 0, nul_bytes = 0, updates = 0;
  /// Share of bytes that are neither text nor white space decides "binary".
  std::uint64_t binary_bytes = 0;
  /// Lines that are no text (see clean.h) give no record.
  std::uint64_t lines_not_text = 0, bytes_not_text = 0;
  std::uint64_t cut_bytes = 0;  ///< of the cut lines
  stamps::ClockSteps clock;
};

/// A place in the text of a file.
struct TextPosition {
  std::uint64_t bytes = 0, lines = 0;  ///< that stand before it
  bool operator==(const TextPosition&) const = default;
};

/// How far a decoder is. What waits for its block stands behind `front`.
struct Progress {
  TextPosition given;       ///< all before it was given, as records or counts
  TextPosition front;       ///< where the next line begins; behind `given` while records wait
  bool unfinished = false;  ///< bytes of that line are here
  bool bar = false;         ///< it is a progress bar: it may never end
};

class Decoder {
 public:
  using Sink = std::function<void(const Record&)>;  // called per record, built once per file

  /// `wording`: what decoders of one thread share, as what lines look like is learned once for all
  /// files; it must outlive them. Null: the decoder has its own.
  Decoder(Options options, Sink sink, WordingReader* wording = nullptr);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Begin in the middle of a file: line number and byte offset of the next byte fed.
  void start_at(std::uint64_t line, std::uint64_t offset);
  /// Learns from text that stands before what will be fed how lines begin there; gives no records.
  void learn_prefixes(std::string_view text);
  void feed(std::string_view chunk);
  /// Decodes what has been fed but waits for its block (64 KiB) to fill: for a live file that is
  /// quiet. An unfinished line stays open.
  void flush_block();
  /// Gives records that wait for more lines as they stand, but for an unfinished line.
  void release_held();
  /// Gives the unfinished line, if there is one; what follows of it is another piece of that line.
  void emit_unfinished();
  /// What follows comes from the next file of a rotated log: ends the last line, not the folds.
  void end_part();
  /// Ends the last line and the last fold.
  void finish();

  Progress progress() const;

  const Stats& stats() const;
  /// Name of the time format most lines had ("iso", "python", "glog", ...), "none" if none.
  std::string_view time_format() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::decode
