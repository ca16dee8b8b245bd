// Reads one physical file into the pipeline, and warns about bytes that could not be read.
//
// Place in the flow: discover -> here -> pipeline. Files of a running job change between discovery
// and reading. A file that is gone, replaced, shorter, longer or damaged gives a warning with the
// number of lost bytes, and everything before the damage is used. Bounded by the file's size and
// kGrowthMax, so that a writer that is faster than the reader cannot keep it busy. One thread.
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

/// Bytes that are read at most beyond the file's size at its opening.
inline constexpr std::uint64_t kGrowthMax = 256ULL << 20;

struct PartReading {
  std::span<char> chunk;
  std::atomic<std::uint64_t>& bytes_done;
  const std::stop_token& stop;
  std::vector<wire::Warning>& warnings;
};

/// Passes the file's text to `feed`. Returns the number of bytes that the text should have; 0 if it
/// is not known, as for packed files.
std::uint64_t read_part(const FilePart& part, const std::function<void(std::string_view)>& feed,
                        PartReading& reading);

/// Adds warnings for the lines and bytes that the decoder left out of `file`.
void note_left_out(const decode::Stats& stats, const decode::Options& options,
                   const std::string& file, std::vector<wire::Warning>& warnings);

}  // namespace l4::agent
