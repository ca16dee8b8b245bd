// When a log's wire::FileReading is due, and what of it no other part of the pipeline knows.
//
// Place in the flow: part of LogState; JobPipeline notes packs for each record and ships readings.
// A reading is due when twice as many lines were read as the last one counts, so a log costs some
// twenty of them in its life. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "common/wire/file_reading.h"

namespace l4::pipeline {

class ReadingState {
 public:
  /// The rule packs that know a line of the log.
  void note(const std::vector<std::string_view>& packs) {
    for (const std::string_view pack : packs)
      if (pack.data() != newest_.data()) note(pack);
  }
  bool is_due(std::uint64_t lines, bool ended) const {
    constexpr std::uint64_t kFew = 64;  // lines
    return ended ? lines != lines_told_ : lines >= std::max(kFew, 2 * lines_told_);
  }
  /// The reading that is shipped now, without its marker.
  wire::FileReading told(const std::string& path, const decode::Stats& stats,
                         std::string_view time_format) {
    lines_told_ = stats.lines;
    wire::FileReading reading;
    reading.path = path;
    reading.lines = stats.lines;
    reading.timed = std::min(stats.lines_with_time, stats.lines);
    reading.glued = stats.glued_lines;
    reading.split = stats.joined_lines;
    if (time_format != "none") reading.format = time_format;
    reading.packs = packs_;
    return reading;
  }

 private:
  void note(std::string_view pack) {
    constexpr std::size_t kBytesMax = 256;
    newest_ = pack;
    if (packs_.find(pack) != std::string::npos || packs_.size() > kBytesMax) return;
    packs_ += packs_.empty() ? "" : ", ";
    packs_ += pack;
  }

  std::string packs_;        // "megatron, nccl"
  std::string_view newest_;  // the last one that was noted: mostly the next one, too
  std::uint64_t lines_told_ = 0;
};

}  // namespace l4::pipeline
