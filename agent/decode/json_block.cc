#include "agent/decode/json_block.h"

#include <algorithm>

#include "agent/decode/json_text.h"
#include "agent/text/scan.h"

namespace l4::decode {

bool JsonBlock::begins(std::string_view text) {
  text = text::trim(text);
  if (text.empty() || text[0] != '{' || text.back() == '}') return false;
  text.remove_prefix(1);
  text = text::trim_left(text);
  return text.empty() || text[0] == '"';
}

bool JsonBlock::continues(std::string_view text) {
  text = text::trim_left(text);
  constexpr std::string_view kFirst = "\"{}[],-0123456789tfnIN";
  return !text.empty() && kFirst.find(text[0]) != std::string_view::npos;
}

void JsonBlock::open(std::uint64_t voice) {
  voice_ = voice;
  lines_.clear();
  numbers_.clear();
  texts_.clear();
  joined_.clear();
  depth_ = 0;
}

JsonBlock::State JsonBlock::add(std::string_view given, std::string_view text, const RawLine& raw,
                                std::span<const std::uint64_t> numbers, const Envelope* envelope) {
  Line& line = lines_.emplace_back();
  line.from = texts_.size();
  line.size = given.size();
  texts_.append(given);
  line.raw = raw;
  line.raw.head = line.raw.last = line.raw.bar = {};
  if (envelope != nullptr) {
    line.envelope = *envelope;
    line.envelope->content = {};
  }
  line.lines_from = numbers_.size();
  line.lines = numbers.size();
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  to_ = raw.bytes.to;
  const std::string_view bare = text::trim(text);
  if (lines_.size() == 1) {
    // The prefixes stand before the object's first brace.
    const std::size_t brace = given.find('{');
    joined_.assign(given.substr(0, std::min(brace, given.size())));
    object_from_ = joined_.size();
  } else {
    joined_.push_back(' ');
  }
  joined_.append(bare);
  const State state = scan(bare);
  if (state == State::complete && joined_.back() == ',') joined_.pop_back();
  return state;
}

JsonBlock::State JsonBlock::scan(std::string_view text) {
  text::Cursor c{text};
  std::string_view ignored;
  while (!c.done()) {
    const char sign = c.peek();
    ++c.at;
    if (sign == '"') {
      if (!skip_json_string(c, ignored)) return State::broken;
    } else if (sign == '{' || sign == '[') {
      ++depth_;
    } else if (sign == '}' || sign == ']') {
      if (--depth_ > 0) continue;
      c.accept(',');
      return depth_ == 0 && c.done() ? State::complete : State::broken;
    }
  }
  return State::open;
}

}  // namespace l4::decode
