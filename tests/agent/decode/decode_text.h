// Decodes a text and keeps the records with owned strings, for tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"

namespace l4::decode::test {

struct Kept {
  std::string text, host, bar;
  std::optional<TimeMs> time;
  Level level = Level::unknown;
  std::optional<int> rank, local_rank;
  std::vector<std::uint64_t> lines;
  wire::ByteRange bytes;
  std::uint32_t updates = 0;
  std::optional<std::int64_t> progress, progress_total;
  bool folded = false;
  bool operator==(const Kept&) const = default;
};

inline Kept keep(const Record& record) {
  Kept kept;
  kept.text = record.text;
  kept.host = record.speaker.host;
  kept.bar = record.bar;
  kept.time = record.time;
  kept.level = record.level;
  if (record.speaker.rank) kept.rank = record.speaker.rank->value();
  kept.local_rank = record.speaker.local_rank;
  kept.lines.assign(record.lines.begin(), record.lines.end());
  kept.bytes = record.bytes;
  kept.updates = record.updates;
  kept.progress = record.progress;
  kept.progress_total = record.progress_total;
  kept.folded = record.folded;
  return kept;
}

struct Decoded {
  std::vector<Kept> records;
  Stats stats;
  std::string format;
};

/// Feeds `text` in chunks whose sizes `next_size` gives (0: all at once).
template <class NextSize>
Decoded decode_chunks(std::string_view text, NextSize next_size, Options options = {}) {
  Decoded out;
  Decoder decoder{options, [&](const Record& record) { out.records.push_back(keep(record)); }};
  while (!text.empty()) {
    std::size_t size = next_size();
    if (size == 0 || size > text.size()) size = text.size();
    // A copy of exact size, so that the address sanitizer sees a read beyond the chunk.
    const std::vector<char> chunk(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    decoder.feed({chunk.data(), chunk.size()});
    text.remove_prefix(size);
  }
  decoder.finish();
  out.stats = decoder.stats();
  out.format = decoder.time_format();
  return out;
}

inline Decoded decode_text(std::string_view text, Options options = {}) {
  return decode_chunks(text, [] { return std::size_t{0}; }, options);
}

}  // namespace l4::decode::test
