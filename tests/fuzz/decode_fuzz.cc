// Arbitrary bytes as a log: every line is in a record or is counted as blank or as no text, and
// the records do not depend on how the bytes were divided into chunks.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "agent/decode/decoder.h"
#include "tests/agent/decode/decode_text.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::decode::Options;
using l4::decode::test::Decoded;
using l4::fuzz::require;

void check_lines(const Decoded& decoded, const Options& options) {
  std::vector<std::uint64_t> seen;
  for (const auto& record : decoded.records) {
    require(!record.lines.empty(), "a record has lines");
    require(std::ranges::is_sorted(record.lines), "lines of a record ascend");
    require(record.lines.size() <= options.fold_lines_max, "a fold is bounded");
    require(record.bytes.from < record.bytes.to, "a record covers bytes");
    seen.insert(seen.end(), record.lines.begin(), record.lines.end());
  }
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  const auto& stats = decoded.stats;
  require(seen.size() + stats.blank_lines + stats.lines_not_text == stats.lines, "no line is lost");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  Options options;
  if ((input.steer & 1) != 0) options.line_bytes_max = 64;
  if ((input.steer & 2) != 0) options.fold_lines_max = 3;
  const auto whole =
      l4::decode::test::decode_chunks(input.text, [] { return std::size_t{0}; }, options);
  require(whole.stats.bytes == input.text.size(), "every byte is counted");
  check_lines(whole, options);
  std::minstd_rand random(input.steer);
  const auto chunks = l4::decode::test::decode_chunks(
      input.text, [&] { return std::size_t{1 + random() % 97}; }, options);
  require(chunks.records == whole.records, "chunks do not matter");
  return 0;
}
