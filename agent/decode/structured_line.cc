#include "agent/decode/structured_line.h"

#include <algorithm>

#include "agent/decode/json_text.h"
#include "agent/decode/structured_keys.h"
#include "agent/text/level.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

/// Level words of loggers that common/base does not know.
Level level_of_text(std::string_view word) {
  if (const Level level = text::level_of_word(word); level != Level::unknown) return level;
  if (const Level level = text::level_of_spelled_word(word); level != Level::unknown) return level;
  if (const Level level = text::level_of_syslog(word); level != Level::unknown) return level;
  return word == "eror" ? Level::error : word == "dbug" ? Level::debug : Level::unknown;
}

/// Numeric levels: below 8 syslog's, in `levelno` Python's (30 warns), else pino's (40 warns).
Level level_of_number(int value, bool python) {
  if (value < 8) return text::level_of_priority(value);
  constexpr std::array kPython{Level::trace,   Level::debug, Level::info,
                               Level::warning, Level::error, Level::fatal};
  constexpr std::array kPino{Level::trace,   Level::trace, Level::debug, Level::info,
                             Level::warning, Level::error, Level::fatal};
  const auto at = static_cast<std::size_t>(value / 10);
  if (python) return kPython[std::min(at, kPython.size() - 1)];
  return kPino[std::min(at, kPino.size() - 1)];
}

std::optional<std::int32_t> small_number(std::string_view text) {
  text::Cursor c{text};
  int value = 0;
  if (!c.parse_number(1, 6, value) || !c.done()) return std::nullopt;
  return value;
}

std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

/// The line of a trace that names the exception: the last of a Python traceback, else the first.
std::string_view exception_line(std::string_view trace) {
  return text::contains(trace, "Traceback (most recent") ? last_line(trace)
                                                         : trace.substr(0, trace.find('\n'));
}

/// Skips a value; `raw` is its text.
bool skip_value(text::Cursor& c, Field& field) {
  const std::size_t from = c.at;
  field.text = field.escaped = false;
  if (c.accept('"')) {
    field.text = field.escaped = true;
    return skip_json_string(c, field.value);
  }
  int open = 0;
  std::string_view ignored;
  for (; !c.done(); ++c.at) {
    const char sign = c.peek();
    if (sign == '"') {
      ++c.at;
      if (!skip_json_string(c, ignored)) return false;
      --c.at;
    } else if (sign == '[' || sign == '{') {
      ++open;
    } else if (open > 0 && (sign == ']' || sign == '}')) {
      if (--open > 0) continue;
      ++c.at;
      break;
    } else if (open == 0 && (sign == ',' || sign == '}' || sign == ']' || text::is_blank(sign))) {
      break;
    }
  }
  field.value = c.text.substr(from, c.at - from);
  const char first = field.value.empty() ? '\0' : field.value[0];
  return open == 0 && (text::is_digit(first) || text::is_lower(first) || first == '-' ||
                       first == '[' || first == '{' || first == 'N');
}

/// Calls `leaf` for each value of the object at the cursor, except nested objects.
template <class Leaf>
bool walk_object(text::Cursor& c, std::string_view parent, int depth, const Leaf& leaf) {
  constexpr int kDepthMax = 5;
  if (!c.accept('{')) return false;
  c.skip_blanks();
  if (c.accept('}')) return true;
  for (;;) {
    Field field{parent, {}, {}, false, false};
    c.skip_blanks();
    if (!c.accept('"') || !skip_json_string(c, field.key)) return false;
    c.skip_blanks();
    if (!c.accept(':')) return false;
    c.skip_blanks();
    if (c.peek() == '{' && depth < kDepthMax) {
      if (!walk_object(c, field.key, depth + 1, leaf)) return false;
    } else {
      if (!skip_value(c, field)) return false;
      leaf(field);
    }
    c.skip_blanks();
    if (c.accept('}')) return true;
    if (!c.accept(',')) return false;
  }
}

}  // namespace

void StructuredLine::begin() {
  for (std::string& part : parts_) part.clear();
  priorities_.fill(0);
  extras_.clear();
  text_.clear();
  host_.clear();
  level_priority_ = time_priority_ = 0;
  stamp.reset();
  level = Level::unknown;
  rank.reset();
  local_rank.reset();
}

void StructuredLine::keep(Part part, const Field& field, int priority) {
  if (!field.text || priority <= priorities_[part]) return;
  std::string& kept = parts_[part];
  kept.clear();
  if (field.escaped) {
    // The field with its closing quote.
    text::Cursor c{{field.value.data(), field.value.size() + 1}};
    if (!parse_json_string(c, kept)) return kept.clear();
  } else {
    kept.assign(field.value);
  }
  priorities_[part] = kept.empty() ? 0 : priority;
}

void StructuredLine::apply_level(const Field& field) {
  const auto number = small_number(field.value);
  const Level found =
      number ? level_of_number(*number, is_python_level(field.key)) : level_of_text(field.value);
  if (found != Level::unknown) level = found;
}

void StructuredLine::apply_time(const Field& field) {
  stamps::RawStamp raw;
  text::Cursor c{field.value};
  if (const auto epoch = stamps::parse_epoch(c); epoch && c.done()) {
    raw.epoch_ms = epoch->ms;
    raw.coarse = epoch->coarse;
  } else {
    c.at = 0;
    if (!field.text || !stamps::parse_iso(c, raw.civil) || !raw.civil.valid()) return;
  }
  stamp = raw;
}

void StructuredLine::apply(const Field& given) {
  Field field = given;
  if (const std::size_t dot = field.key.rfind('.'); dot != std::string_view::npos && dot > 0) {
    field.parent = field.key.substr(0, dot);  // `log.level`, `host.name`
    field.key = field.key.substr(dot + 1);
  }
  const StructuredKey* key = find_key(field.parent, field.key);
  if (key == nullptr) return add_extra(field);
  switch (key->role) {
    case Role::message:
      return keep(kMessage, field, key->priority);
    case Role::level:
      if (key->priority > level_priority_) apply_level(field);
      if (level != Level::unknown) level_priority_ = key->priority;
      return;
    case Role::time:
      if (key->priority > time_priority_) apply_time(field);
      if (stamp) time_priority_ = key->priority;
      return;
    case Role::rank:
      if (const auto value = small_number(field.value)) rank = Rank{*value};
      return;
    case Role::local_rank:
      local_rank = small_number(field.value);
      return;
    case Role::host:
      return keep(kHost, field, key->priority);
    case Role::type:
      return keep(kType, field, key->priority);
    case Role::reason:
      return keep(kReason, field, key->priority);
    case Role::trace:
      return keep(kTrace, field, key->priority);
  }
}

void StructuredLine::add_extra(const Field& field) {
  constexpr std::size_t kArrayBytesMax = 64;
  if (field.value == "null" || says_nothing(field.parent, field.key)) return;
  if (!field.text && !field.value.empty() && (field.value[0] == '[' || field.value[0] == '{') &&
      field.value.size() > kArrayBytesMax)
    return;
  extras_.push_back(' ');
  if (!is_plain_parent(field.parent)) extras_.append(field.parent).push_back('.');
  extras_.append(field.key).push_back('=');
  const bool quoted = field.text && field.value.find(' ') != std::string_view::npos;
  if (quoted) extras_.push_back('"');
  extras_.append(field.value);
  if (quoted) extras_.push_back('"');
}

/// Appends ` | ValueError: bad value`, from a trace, else from a type and a reason.
void StructuredLine::append_exception() {
  std::string& trace = parts_[kTrace];
  scratch_.assign(trace.empty() ? parts_[kReason] : exception_line(trace));
  if (trace.empty() && !parts_[kType].empty()) {
    scratch_.insert(0, ": ");
    scratch_.insert(0, parts_[kType]);
  }
  if (level == Level::unknown && !trace.empty()) level = Level::error;
  if (scratch_.empty() || text::contains(text_, scratch_)) return;
  text_.append(" | ").append(scratch_);
}

void StructuredLine::finish() {
  std::string& message = parts_[kMessage];
  host_.assign(parts_[kHost]);
  if (message.empty()) return;
  const std::size_t traceback = message.find("Traceback (most recent");
  if (traceback != std::string::npos && parts_[kTrace].empty()) {
    parts_[kTrace].assign(message, traceback);
    message.resize(traceback);
  }
  bool line_begins = true;  // lines are joined without their indentation
  for (const char c : message) {
    const bool ends = c == '\n' || c == '\r';
    if (ends && !line_begins) text_.push_back(' ');
    if (!ends && !(line_begins && text::is_blank(c))) text_.push_back(c);
    line_begins = ends || (line_begins && text::is_blank(c));
  }
  while (!text_.empty() && text_.back() == ' ') text_.pop_back();
  text_.append(extras_);
  append_exception();
}

bool StructuredLine::read_json(std::string_view line) {
  begin();
  text::Cursor c{line};
  if (!walk_object(c, "", 0, [this](const Field& field) { apply(field); })) return false;
  c.skip_blanks();
  if (!c.done()) return false;
  finish();
  return true;
}

bool StructuredLine::read_logfmt(std::string_view line) {
  begin();
  text::Cursor c{line};
  while (!c.done()) {
    Field field;
    const std::size_t from = c.at;
    while (text::is_host(c.peek()) || c.peek() == '@') ++c.at;
    field.key = line.substr(from, c.at - from);
    if (field.key.empty() || !c.accept('=')) return false;
    if (c.accept('"')) {
      field.text = field.escaped = true;
      if (!skip_json_string(c, field.value)) return false;
    } else {
      field.text = true;
      const std::size_t at = c.at;
      while (!c.done() && !text::is_blank(c.peek())) ++c.at;
      field.value = line.substr(at, c.at - at);
    }
    if (!c.done() && !text::is_blank(c.peek())) return false;
    c.skip_blanks();
    apply(field);
  }
  finish();
  return !text_.empty() && (stamp || level != Level::unknown);
}

}  // namespace l4::decode
