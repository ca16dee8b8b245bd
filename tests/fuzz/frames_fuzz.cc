// Arbitrary bytes as lines: the framer gives every byte in exactly one line or piece of a line, in
// order, whatever the chunks; seams, bars and lines of UTF-16 stay within the text they are found
// in.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "agent/decode/line_framer.h"
#include "agent/decode/progress_bar.h"
#include "agent/decode/seams.h"
#include "agent/decode/utf16.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::decode::LineFramer;
using l4::decode::RawLine;
using l4::fuzz::require;

struct Piece {
  std::string head, last, bar;
  std::uint64_t number, from, to, last_from;
  std::uint32_t updates;
  bool first, more, cut;
  bool operator==(const Piece&) const = default;
};

template <class NextSize>
std::vector<Piece> frame(std::string_view text, std::size_t line_bytes_max, NextSize next_size) {
  LineFramer framer{line_bytes_max};
  std::vector<Piece> pieces;
  const auto keep = [&](const RawLine& raw) {
    pieces.push_back({std::string(raw.head), std::string(raw.last), std::string(raw.bar),
                      raw.number, raw.bytes.from, raw.bytes.to, raw.last_from, raw.updates,
                      raw.first, raw.more, raw.cut});
  };
  RawLine raw;
  while (!text.empty()) {
    const std::size_t size = std::min(std::max<std::size_t>(next_size(), 1), text.size());
    // A copy of exact size, so that the address sanitizer sees a read beyond the chunk.
    const std::vector<char> chunk(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    framer.give({chunk.data(), chunk.size()});
    while (framer.next(raw)) keep(raw);
    text.remove_prefix(size);
  }
  while (framer.finish(raw)) keep(raw);
  return pieces;
}

void check_places(const std::vector<Piece>& pieces, std::string_view text) {
  std::uint64_t at = 0, number = 1;
  bool first = true;
  for (const Piece& piece : pieces) {
    require(piece.from == at && piece.to > at, "each byte is in one piece, in order");
    require(piece.number == number, "lines are counted by their ends");
    require(piece.first == first, "the first piece of a line says so");
    require(piece.last_from >= piece.from && piece.last_from <= piece.to, "text has its place");
    at = piece.to;
    first = !piece.more;
    if (!piece.more) ++number;
  }
  require(at == text.size(), "no byte is left");
}

void check_text(std::string_view text) {
  std::vector<std::size_t> seams;
  l4::decode::find_seams(text, seams);
  require(std::ranges::is_sorted(seams), "seams ascend");
  for (const std::size_t seam : seams) require(seam > 0 && seam < text.size(), "seams are inside");
  const std::string_view front = text.substr(0, text.size() / 2), rest = text.substr(front.size());
  if (const auto bar = l4::decode::find_bar(text)) {
    require(bar->begin <= text.size(), "a bar is inside");
    require(bar->behind.empty() ||
                (bar->behind.data() >= text.data() &&
                 bar->behind.data() + bar->behind.size() <= text.data() + text.size()),
            "the text behind a bar is inside");
    require(bar->behind.size() < text.size(), "a bar has a length");
  }
  l4::decode::redraws(front, rest);
  std::string wide;
  if (l4::decode::decode_utf16_line(text, wide))
    require(wide.size() <= 2 * text.size(), "UTF-16 grows by half");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const std::size_t line_bytes_max = (input.steer & 1) != 0 ? 64 : 16 * 1024;
  const auto whole = frame(input.text, line_bytes_max, [&] { return input.text.size(); });
  check_places(whole, input.text);
  for (const Piece& piece : whole) check_text(piece.last);
  std::minstd_rand random(input.steer);
  const auto chunks = frame(input.text, line_bytes_max, [&] { return random() % 97; });
  require(chunks == whole, "chunks do not matter");
  return 0;
}
