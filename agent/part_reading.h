// Reads one physical file into the pipeline, and says of it what could not be read.
//
// Place in the flow: discover -> here -> pipeline. Files of a running job change between being
// found and being read: one that is gone, was replaced, is shorter or longer than it was, or breaks
// off, gives a warning with the bytes that are lost, and everything before that place is used.
// Bounded by the file's size and kGrowthMax: a writer that is faster than the reader does not hold
// it up. One thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "agent/file_parts.h"
#include "common/wire/batch.h"

namespace l4::agent {

/// Bytes that a file may have grown by since it was opened.
inline constexpr std::uint64_t kGrowthMax = 256ULL << 20;

struct PartReading {
  std::span<char> chunk;
  std::atomic<std::uint64_t>& bytes_done;
  const std::stop_token& stop;
  std::vector<wire::Warning>& warnings;
};

/// Gives the file's text to `feed`. Bytes of text that it should have given; 0 if that is not
/// known, as of packed ones.
std::uint64_t read_part(const FilePart& part, const std::function<void(std::string_view)>& feed,
                        PartReading& reading);

/// Says what the decoder left out of `file`.
void note_left_out(const decode::Stats& stats, const decode::Options& options,
                   const std::string& file, std::vector<wire::Warning>& warnings);

}  // namespace l4::agent
