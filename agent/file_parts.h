// The physical files of one log: its rotated files, oldest first, then the file itself.
//
// The decoder reads them as one joined text; this header maps lines of that text back to a file and
// a line of the file. Owned by the agent, one thread. A line never continues in the next file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/decode/decoder.h"
#include "agent/discover/discover.h"
#include "agent/discover/file_reader.h"

namespace l4::agent {

/// Bytes of a file that are read at once.
inline constexpr std::size_t kChunkBytes = 256 * 1024;

struct FilePart {
  std::filesystem::path path;
  std::string name;
  discover::OnDisk found;          ///< state of the file at discovery
  wire::ByteRange bytes;           ///< its range in the joined text; set once it was read
  std::uint64_t lines_before = 0;  ///< lines of the parts before it
};

std::vector<FilePart> parts_of(const discover::LogFile& file);

/// The part that holds a line of the joined text; lines count from 1.
const FilePart& part_of_line(const std::vector<FilePart>& parts, std::uint64_t line);

/// Reads ranges of the joined text a second time, in ascending order.
class PartsReader {
 public:
  /// `parts` must outlive the reader.
  explicit PartsReader(const std::vector<FilePart>& parts) : parts_(&parts) {}
  explicit PartsReader(std::vector<FilePart>&&) = delete;

  /// Feeds a range, and ends lines at the end of a file. False if some bytes no longer exist: the
  /// range was fed up to them, and the decoder's position is no longer valid.
  [[nodiscard]] bool feed(wire::ByteRange range, decode::Decoder& decoder);

 private:
  bool go_to(std::size_t part, std::uint64_t offset);
  bool go_to(std::size_t part, std::uint64_t offset, decode::Decoder& decoder);
  std::string_view read(std::uint64_t bytes_max);

  const std::vector<FilePart>* parts_;
  std::optional<discover::FileReader> reader_;
  std::size_t part_ = 0;
  std::uint64_t at_ = 0;  // position in the text of the part
  std::vector<char> chunk_;
};

}  // namespace l4::agent
