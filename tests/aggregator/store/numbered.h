// Batches that contain their number, for tests of replays.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aggregator/store/journal.h"

namespace l4::store::test {

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}
/// The batch of a number; some are larger.
inline std::string numbered(std::uint64_t number, std::uint64_t life = 0) {
  return std::to_string(number) + "/" + std::to_string(life) + std::string(number * 37 % 200, '.');
}
inline TimeMs at_ms(std::int64_t ms) {
  return TimeMs{Millis{1'700'000'000'000 + ms}};
}

using Replay = std::vector<std::pair<std::uint64_t, std::string>>;

inline Replay everything(const Journal& journal, Replayed* replayed = nullptr, Seq after = {}) {
  Replay found;
  const Replayed told = journal.replay(after, [&](const Record& record) {
    found.emplace_back(record.seq.value(), text_of(record.batch));
  });
  if (replayed != nullptr) *replayed = told;
  return found;
}

/// `count` records from `first` on, one second apart.
inline void fill(RecordGroup& group, std::uint64_t first, std::uint64_t count,
                 std::uint64_t life = 0) {
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Bytes batch = bytes_of(numbered(number, life));
    group.add({Seq{number}, at_ms(static_cast<std::int64_t>(number) * 1000),
               number % 2 == 0 ? "even" : "odd", "node-1", batch});
  }
}

}  // namespace l4::store::test
