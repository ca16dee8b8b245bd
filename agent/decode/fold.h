// Joins the lines of a traceback, native stack, warning or usage message into one record.
//
// Last stage of the decoder. Every voice (a combination of prefixes) has its own open fold, so that
// interleaved tracebacks of many ranks are told apart. Lines of a voice without prefix join only if
// they look like a continuation, so that healthy lines in between stay records of their own. A line
// that begins no fold passes through as a view. Bounds: kOpenMax open folds, `fold_lines_max` lines
// each; a fold ends when no line has joined it for kSilentLines lines. Records of one voice keep
// their order, except that healthy lines overtake an open traceback. A line that comes after later
// ones have joined a fold does not join it, so that the lines of a record ascend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/decode/fold_rules.h"
#include "agent/decode/record.h"

namespace l4::decode {

struct Message {
  Message() {}  // not `= default`, see Record

  Record record;                  ///< complete except for `folded`
  std::string_view body;          ///< the message with its indentation, without glog's origin
  Shape shape = Shape::plain;     ///< the shape of `body`
  std::uint64_t voice = 0;        ///< hash of the prefixes; 0: none
  std::uint64_t outer_voice = 0;  ///< hash without torch's `[rank4]:`
  bool stamped = false;           ///< has a time stamp of its own (not the envelope's)
  bool origin = false;            ///< `file.cpp:49]` stands before the body
  bool fields = false;            ///< the line was JSON or logfmt
  bool logfmt = false;
  bool program = false;     ///< syslog's `name[pid]:` stands before the body
  bool excepthook = false;  ///< torch's `[rank4]:`, set before tracebacks
};

class Folder {
 public:
  using Sink = std::function<void(const Record&)>;

  Folder(std::size_t fold_lines_max, Sink sink);

  void add(const Message& message);
  /// An empty line: it parts nothing within the frames of a traceback.
  void note_blank(std::uint64_t line) {
    for (const auto& fold : open_)
      if (fold->kind == Kind::traceback && fold->phase == Phase::frames &&
          fold->last_line + 1 == line)
        fold->last_line = line;
  }
  /// Ends all open folds, in order of their first lines.
  void finish();
  /// The first record that waits for more lines; null if there is none.
  const Record* first_open() const;

 private:
  enum class Kind : std::uint8_t { traceback, native, warning, usage, held };
  enum class Phase : std::uint8_t { frames, message, chained, table };
  enum class Decision : std::uint8_t {
    join,
    join_and_end,
    join_and_split,
    split_and_join,
    pass,
    end
  };

  struct Fold {
    std::uint64_t outer_voice = 0;
    Kind kind = Kind::held;
    Phase phase = Phase::frames;
    Record record;
    std::string text, host, stack, bar;
    std::string source;   ///< last source line of a traceback
    std::string details;  ///< lines below the text
    std::vector<std::uint64_t> lines;
    std::uint64_t last_line = 0;
    std::size_t indent = 0;
    std::uint32_t open_tracebacks = 0, passed = 0, notes = 0, rules = 0;
    bool after_file = false, after_colon = false, named = false, excepthook = false;
    bool ignored = false;  ///< an exception that Python printed and dropped; its head is the text
    bool stamped = false;
    bool listing = false;  ///< rows of a list may follow
    bool go = false;       ///< a panic of Go, whose stacks are partly not indented
    char table_rule = 0;   ///< the sign that begins and ends torchrun's table
    bool carried = false;  ///< every line is stamped, by a tool that carries the lines
  };

  static std::optional<Kind> kind_begun_by(const Message& message, Shape shape);
  void begin(const Message& message, Shape shape, Kind kind);
  Decision judge(Fold& fold, const Message& message, Shape shape);
  void add_group_line(Fold& fold, std::string_view body);
  Decision judge_frames(Fold& fold, const Message& message, Shape shape);
  Decision judge_message(Fold& fold, const Message& message, Shape shape);
  Decision judge_native(Fold& fold, const Message& message, Shape shape);
  Decision judge_held(Fold& fold, const Message& message, Shape shape);
  void join(Fold& fold, const Message& message);
  static void add_detail(Fold& fold, const Message& message, Shape shape);
  void emit(Fold& fold);
  void split(Fold& fold);
  void end(std::size_t index);
  static bool adjacent(const Fold& fold, const Message& message);
  static bool is_late(const Fold& fold, const Message& message);
  static bool stamped(const Fold& fold, const Message& message);
  void end_silent(std::uint64_t line);
  std::optional<std::size_t> find(const Message& message, Shape shape) const;
  std::optional<std::size_t> find_last(std::uint64_t voice) const;

  std::size_t fold_lines_max_;
  Sink sink_;
  std::vector<std::unique_ptr<Fold>> open_, spare_;
  std::vector<std::uint64_t> voices_;  // by open_; contiguous, because every line is looked up here
  std::array<std::uint16_t, 256> voices_by_byte_{};  // voices by low byte; spares look-ups
  std::uint64_t swept_at_ = 0;
};

}  // namespace l4::decode
