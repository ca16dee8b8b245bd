#include "agent/decode/fold.h"

#include <algorithm>

#include "agent/decode/stack.h"
#include "agent/text/scan.h"
#include "common/base/check.h"

namespace l4::decode {
namespace {

constexpr std::size_t kOpenMax = 512;
constexpr std::uint64_t kSilentLines = 2048;  // 64 interleaved ranks with tracebacks of 30 lines
constexpr std::uint64_t kSilentHeldLines = 256;
constexpr std::uint32_t kPassedMax = 64;
constexpr std::uint32_t kNativePassedMax = 8;
constexpr std::uint32_t kNotesMax = 60;
constexpr std::size_t kSourceBytesMax = 160;
constexpr std::size_t kDetailBytesMax = 2048;

/// "EGLError" of "OpenGL.raw.EGL._errors.EGLError: text".
std::string_view exception_name(std::string_view line) {
  line = text::trim(line);
  line = line.substr(0, line.find(':'));
  return line.substr(line.rfind('.') + 1);
}

/// Further lines of a usage: indented by argparse, a hint by click.
bool continues_usage(std::string_view body) {
  return indent_of(body) >= 1 || (body.starts_with("Try ") && text::contains(body, "help"));
}

}  // namespace

Folder::Folder(std::size_t fold_lines_max, Sink sink)
    : fold_lines_max_(fold_lines_max), sink_(std::move(sink)) {}

bool Folder::adjacent(const Fold& fold, const Message& message) {
  return message.record.lines.front() == fold.last_line + 1;
}

/// True for a line that waited in the decoder (for the rest of an object, or of a line that a
/// container runtime split) while later lines joined the fold.
bool Folder::is_late(const Fold& fold, const Message& message) {
  return message.record.lines.front() < fold.last_line;
}

/// True for a logger's own line, which never continues a fold.
bool Folder::stamped(const Fold& fold, const Message& message) {
  return message.stamped && !fold.carried;
}

/// The open fold of the message's voice. torch's prefix stands before the head of a native stack
/// but not before its frames: frames without it go to the fold that grew last.
std::optional<std::size_t> Folder::find(const Message& message, Shape shape) const {
  if (shape == Shape::frame || shape == Shape::raised || shape == Shape::note)
    return find_last(message.voice);
  if (voices_by_byte_[message.voice % voices_by_byte_.size()] == 0) return std::nullopt;
  const auto found = std::find(voices_.begin(), voices_.end(), message.voice);
  if (found == voices_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - voices_.begin());
}

std::optional<std::size_t> Folder::find_last(std::uint64_t voice) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (voices_[i] != voice && open_[i]->outer_voice != voice) continue;
    if (!best || open_[i]->last_line > open_[*best]->last_line) best = i;
  }
  return best;
}

void Folder::add(const Message& message) {
  if (fold_lines_max_ < 2) return sink_(message.record);
  const Shape shape = message.shape;
  if (!open_.empty()) {
    const std::uint64_t line = message.record.lines.front();
    if (line >= swept_at_ + 64) end_silent(line);
    if (const auto index = find(message, shape)) {
      Fold* const fold = open_[*index].get();
      // The message may have several lines itself, if a container runtime split it.
      const bool fits = fold->lines.size() + message.record.lines.size() <= fold_lines_max_;
      const bool below = fold->kind == Kind::held || fold->phase != Phase::frames;
      Decision decision = Decision::end;
      if (is_late(*fold, message))
        decision = kind_begun_by(message, shape) ? Decision::end : Decision::pass;
      else if (fits)
        decision = judge(*fold, message, shape);
      if (decision != Decision::pass && decision != Decision::end) {
        if (decision == Decision::split_and_join) {
          split(*fold);
          fold->text.assign(text::trim(message.body));
        }
        join(*fold, message);
        if (below) add_detail(*fold, message, shape);
        if (shape == Shape::file_frame) append_frame(message.body, fold->stack);
        // "RuntimeError: In user code:": the message goes on, perhaps without indentation.
        const bool may_head = shape == Shape::note || shape == Shape::exception;
        fold->after_colon = may_head && text::trim_right(message.body).ends_with(':');
        if (decision == Decision::join_and_end || fold->lines.size() == fold_lines_max_) {
          end(*index);
        } else if (decision == Decision::join_and_split) {
          split(*fold);
        }
        return;
      }
      if (decision == Decision::pass && ++fold->passed <= kPassedMax) {
        sink_(message.record);
        return;
      }
      end(*index);
    }
  }
  if (const auto kind = kind_begun_by(message, shape))
    begin(message, shape, *kind);
  else
    sink_(message.record);
}

std::optional<Folder::Kind> Folder::kind_begun_by(const Message& message, Shape shape) {
  switch (shape) {
    case Shape::traceback:
    case Shape::ignored:
    case Shape::file_frame:  // the head is missing
      return Kind::traceback;
    case Shape::terminate:
    case Shape::what:
    case Shape::raised:
    case Shape::frame:
    case Shape::fatal:
    case Shape::thread:
      return Kind::native;
    case Shape::warning:
      return Kind::warning;
    case Shape::usage:
      return Kind::usage;
    default:
      if (message.record.level >= Level::warning) return Kind::held;
      if (!may_list_below(message.body) || !lists_below(message.body)) return std::nullopt;
      return Kind::held;
  }
}

void Folder::begin(const Message& message, Shape shape, Kind kind) {
  if (open_.size() >= kOpenMax) end(0);
  if (spare_.empty()) spare_.push_back(std::make_unique<Fold>());
  open_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  voices_.push_back(message.voice);
  ++voices_by_byte_[message.voice % voices_by_byte_.size()];
  Fold& fold = *open_.back();
  fold.outer_voice = message.outer_voice;
  fold.kind = kind;
  fold.phase = Phase::frames;
  fold.record = message.record;
  fold.text.assign(message.record.text);
  fold.host.assign(message.record.speaker.host);
  fold.bar.assign(message.record.bar);
  fold.stack.clear();
  fold.source.clear();
  fold.details.clear();
  fold.listing = kind == Kind::held && lists_below(message.body);
  if (shape == Shape::file_frame) append_frame(message.body, fold.stack);
  fold.lines.assign(message.record.lines.begin(), message.record.lines.end());
  fold.last_line = fold.lines.back();
  fold.indent = indent_of(message.body);
  if (shape == Shape::file_frame) fold.indent -= std::min<std::size_t>(fold.indent, 2);
  fold.ignored = shape == Shape::ignored;
  fold.open_tracebacks = kind == Kind::traceback && !fold.ignored ? 1 : 0;
  fold.passed = fold.notes = fold.rules = 0;
  fold.after_file = fold.after_colon = false;
  fold.named = shape == Shape::what;
  fold.excepthook = message.excepthook;
  fold.go = shape == Shape::fatal &&
            (message.body.starts_with("panic: ") || message.body.starts_with("fatal error: "));
  // Rust prints the message on the next line.
  fold.after_colon =
      shape == Shape::fatal && fold.text.starts_with("thread '") && fold.text.back() == ':';
  fold.stamped = message.stamped;
  fold.carried = message.stamped && kind != Kind::held;
  if (kind == Kind::traceback && !fold.ignored) fold.record.level = Level::error;
  if (shape == Shape::fatal && fold.record.level < Level::error) fold.record.level = Level::error;
  if (swept_at_ == 0 || open_.size() == 1) swept_at_ = message.record.lines.front();
}

Folder::Decision Folder::judge(Fold& fold, const Message& message, Shape shape) {
  const bool next = message.voice != 0 || adjacent(fold, message);
  switch (fold.kind) {
    case Kind::traceback:
      return fold.phase == Phase::frames ? judge_frames(fold, message, shape)
                                         : judge_message(fold, message, shape);
    case Kind::native:
      return judge_native(fold, message, shape);
    case Kind::warning:
      return next && shape == Shape::indented && !stamped(fold, message) ? Decision::join_and_end
                                                                         : Decision::end;
    case Kind::usage:
      if (shape == Shape::usage_error || message.body.starts_with("Error: ")) {
        fold.text.assign(message.record.text);
        fold.record.level = Level::error;
        return Decision::join_and_end;
      }
      return next && continues_usage(message.body) && !stamped(fold, message) ? Decision::join
                                                                              : Decision::end;
    case Kind::held:
      return judge_held(fold, message, shape);
  }
  return Decision::end;
}

/// Exception groups: the text is made of the group's line and its first leaf.
void Folder::add_group_line(Fold& fold, std::string_view body) {
  const std::size_t at = body.find_first_not_of(" |");
  if (at == std::string_view::npos) return;
  const std::string_view text = body.substr(at);
  if (text.starts_with("+--") && text.find_first_not_of("+-") == std::string_view::npos)
    fold.phase = Phase::message;  // the end of the group
  if (fold.rules >= 2 || shape_of(text, Level::unknown) != Shape::exception) return;
  if (fold.rules++ == 0)
    fold.text.assign(text::trim(text));
  else
    fold.text.append(" | ").append(text::trim(text));
}

Folder::Decision Folder::judge_frames(Fold& fold, const Message& message, Shape shape) {
  const std::size_t indent = indent_of(message.body);
  const bool follows_file = fold.after_file;
  fold.after_file = false;
  switch (shape) {
    case Shape::traceback:  // `TVMError: Traceback ..` continues the open one
      if (indent <= fold.indent && text::trim_left(message.body).starts_with("Trace"))
        ++fold.open_tracebacks;
      return Decision::join;
    case Shape::file_frame:
      fold.after_file = indent <= fold.indent;  // without indentation the source line follows
      return Decision::join;
    case Shape::ignored:
      return Decision::end;
    case Shape::group:
      add_group_line(fold, message.body);
      return Decision::join;
    case Shape::chain:
    case Shape::frame:
      return Decision::join;
    default:
      break;
  }
  const bool near = adjacent(fold, message) || message.voice != 0;
  if (indent <= fold.indent &&
      (shape == Shape::exception || (near && class_like(text::trim_left(message.body))))) {
    if (fold.ignored) {
      fold.phase = Phase::message;
      fold.source.assign(exception_name(message.body));
      return Decision::join;
    }
    fold.text.assign(text::trim(message.body));
    if (fold.text == "AssertionError" && fold.source.starts_with("assert "))
      fold.text.append(": ").append(fold.source);
    fold.named = true;
    // Interleaved tracebacks of one voice cannot be separated by line, but each of their exceptions
    // becomes a record.
    if (text::contains(fold.text, "ChildFailedError")) fold.open_tracebacks = 1;
    if (fold.open_tracebacks > 1) {
      --fold.open_tracebacks;
      return Decision::join_and_split;
    }
    fold.phase = Phase::message;
    return Decision::join;
  }
  if (indent >= fold.indent + 2 || (follows_file && near && !stamped(fold, message))) {
    const std::string_view source = text::trim(message.body);
    if (!source.empty() && source[0] != '^' && source[0] != '~')
      fold.source.assign(source.substr(0, kSourceBytesMax));
    return Decision::join;
  }
  return message.excepthook && !stamped(fold, message) ? Decision::join : Decision::pass;
}

Folder::Decision Folder::judge_message(Fold& fold, const Message& message, Shape shape) {
  const std::string_view body = message.body;
  if (shape == Shape::group && fold.rules > 0) {
    add_group_line(fold, body);
    return Decision::join;
  }
  if (shape == Shape::chain) {  // the next exception of the chain becomes another record
    fold.phase = Phase::chained;
    return Decision::split_and_join;
  }
  if (shape == Shape::traceback) {
    if (fold.phase != Phase::chained) return Decision::end;
    fold.phase = Phase::frames;
    fold.open_tracebacks = 1;
    return Decision::join;
  }
  if (fold.phase == Phase::chained) return Decision::pass;
  if (fold.phase == Phase::table) {
    if (shape == Shape::rule && text::trim_left(body)[0] == fold.table_rule)
      return Decision::join_and_end;
    return table_line(body) ? Decision::join : Decision::pass;
  }
  if (shape == Shape::rule && text::contains(fold.text, "ChildFailedError")) {
    fold.phase = Phase::table;
    fold.table_rule = text::trim_left(body)[0];
    return Decision::join;
  }
  if (shape == Shape::ignored || stamped(fold, message)) return Decision::end;
  // Another writer's line took the place of the message, which repeats the name: "EGLError(".
  if (fold.ignored && !fold.source.empty() && adjacent(fold, message) &&
      body.starts_with(fold.source) && body.substr(fold.source.size()).starts_with('('))
    return Decision::join;
  if (shape == Shape::note || shape == Shape::raised || shape == Shape::frame)
    return Decision::join;
  if (++fold.notes > kNotesMax) return Decision::end;
  if (message.excepthook && shape != Shape::warning) return Decision::join;
  const bool next = adjacent(fold, message);
  return next && (shape == Shape::indented || fold.after_colon) ? Decision::join : Decision::end;
}

Folder::Decision Folder::judge_native(Fold& fold, const Message& message, Shape shape) {
  if (stamped(fold, message)) return Decision::end;
  switch (shape) {
    case Shape::what:
      // The line belongs to another process.
      if (fold.named || fold.lines.size() > 4) return Decision::end;
      fold.text.append(" ").append(text::trim(message.body));
      fold.named = true;
      return Decision::join;
    case Shape::note:
      if (text::trim(message.body).starts_with("Signal: "))
        fold.text.assign(text::trim(message.body));
      return Decision::join;
    case Shape::frame:
    case Shape::raised:
    case Shape::thread:
    case Shape::file_frame:
    case Shape::indented:
      return Decision::join;
    case Shape::terminate:
    case Shape::traceback:
    case Shape::ignored:
    case Shape::fatal:
    case Shape::warning:
    case Shape::usage:
      return Decision::end;
    default:
      break;
  }
  const bool short_table = shape == Shape::rule && fold.text.starts_with("==== backtrace");
  if (short_table) return Decision::join_and_end;
  const bool next = message.voice != 0 || adjacent(fold, message);
  if (next && fold.after_colon) {
    if (!fold.named) fold.text.append(" ").append(text::trim(message.body));
    fold.named = true;
    return Decision::join;
  }
  if (fold.go && go_function(message.body)) return Decision::join;
  if (message.excepthook && ++fold.notes < kNotesMax) return Decision::join;
  return fold.passed < kNativePassedMax ? Decision::pass : Decision::end;
}

Folder::Decision Folder::judge_held(Fold& fold, const Message& message, Shape shape) {
  if (stamped(fold, message)) return Decision::end;
  if (shape == Shape::note || shape == Shape::raised || shape == Shape::frame)
    return Decision::join;
  if (++fold.notes > kNotesMax) return Decision::end;
  const bool next = message.voice != 0 || adjacent(fold, message);
  // The lines below Ascend's codes (`EZ9999: Inner Error!`) are events of their own.
  const bool more = (fold.stamped && shape == Shape::indented) || fold.after_colon ||
                    (fold.listing && list_row(message.body));
  if (!more && next && lists_below(message.body)) {
    fold.listing = true;
    return Decision::join;
  }
  return next && more ? Decision::join : Decision::end;
}

void Folder::join(Fold& fold, const Message& message) {
  const Record& record = message.record;
  if (fold.lines.empty()) fold.record.bytes.from = record.bytes.from;
  fold.record.outline = {};  // the text changes, or stands for more lines
  fold.lines.insert(fold.lines.end(), record.lines.begin(), record.lines.end());
  fold.last_line = fold.lines.back();
  fold.record.bytes.to = record.bytes.to;
  fold.record.updates += record.updates;
  if (!fold.record.time) fold.record.time = record.time;
  if (!fold.record.speaker.rank) fold.record.speaker.rank = record.speaker.rank;
}

void Folder::add_detail(Fold& fold, const Message& message, Shape shape) {
  if (shape == Shape::frame || shape == Shape::raised || shape == Shape::note) return;
  if (fold.details.size() >= kDetailBytesMax) return;
  if (!fold.details.empty()) fold.details += '\n';
  fold.details.append(text::trim(message.body).substr(0, kDetailBytesMax - fold.details.size()));
}

void Folder::emit(Fold& fold) {
  if (fold.lines.empty()) return;  // no line came after a split
  fold.record.text = fold.text;
  fold.record.speaker.host = fold.host;
  fold.record.lines = fold.lines;
  fold.record.stack = fold.stack;
  fold.record.details = fold.details;
  fold.record.bar = fold.bar;
  fold.record.folded = fold.lines.size() > 1;
  fold.record.refused = fold.kind == Kind::usage && fold.record.level >= Level::error;
  sink_(fold.record);
}

/// Emits the gathered lines as a record; further lines become another record.
void Folder::split(Fold& fold) {
  emit(fold);
  fold.lines.clear();
  fold.stack.clear();
  fold.details.clear();
  fold.record.time.reset();
}

void Folder::end(std::size_t index) {
  L4_CHECK(index < open_.size() && voices_.size() == open_.size(), "fold {} of {} with {} voices",
           index, open_.size(), voices_.size());
  const auto at = static_cast<std::ptrdiff_t>(index);
  emit(*open_[index]);
  spare_.push_back(std::move(open_[index]));
  --voices_by_byte_[voices_[index] % voices_by_byte_.size()];
  open_.erase(open_.begin() + at);
  voices_.erase(voices_.begin() + at);
}

void Folder::end_silent(std::uint64_t line) {
  swept_at_ = line;
  for (std::size_t i = 0; i < open_.size();) {
    const Fold& fold = *open_[i];
    const bool waits = fold.kind == Kind::traceback && fold.phase != Phase::message;
    const std::uint64_t limit = waits ? kSilentLines : kSilentHeldLines;
    if (line > fold.last_line + limit)
      end(i);
    else
      ++i;
  }
}

void Folder::finish() {
  std::sort(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
    return a->record.bytes.from < b->record.bytes.from;
  });
  for (const auto& fold : open_) emit(*fold);
  open_.clear();
  voices_.clear();
  voices_by_byte_.fill(0);
}

const Record* Folder::first_open() const {
  const Record* first = nullptr;
  for (const auto& fold : open_) {
    if (fold->lines.empty()) continue;  // no line came after a split
    fold->record.lines = fold->lines;
    if (first == nullptr || fold->record.bytes.from < first->bytes.from) first = &fold->record;
  }
  return first;
}

}  // namespace l4::decode
