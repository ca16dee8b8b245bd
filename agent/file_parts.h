// The physical files of one log: what it was rotated into, oldest first, and the file itself.
//
// The decoder reads them as one text; places in that text are told back here as a file and a line
// of it. Owned by the agent, one thread. A line does not go on from one file into the next.
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

/// Of a file, read at once.
inline constexpr std::size_t kChunkBytes = 256 * 1024;

struct FilePart {
  std::filesystem::path path;
  std::string name;
  discover::OnDisk found;          ///< as it was when it was found
  wire::ByteRange bytes;           ///< of the joined text; known once it was read
  std::uint64_t lines_before = 0;  ///< lines of the parts before it
};

std::vector<FilePart> parts_of(const discover::LogFile& file);

/// Part that holds a line of the joined text, counted from 1.
const FilePart& part_of_line(const std::vector<FilePart>& parts, std::uint64_t line);

/// Reads pieces of the joined text again, those that were read once, in ascending order.
class PartsReader {
 public:
  /// `parts` must outlive the reader.
  explicit PartsReader(const std::vector<FilePart>& parts) : parts_(&parts) {}
  explicit PartsReader(std::vector<FilePart>&&) = delete;

  /// Feeds a range and ends the lines that end with a file. False if some of it is gone meanwhile:
  /// nothing behind that was fed, and the decoder knows no place in the file any more.
  [[nodiscard]] bool feed(wire::ByteRange range, decode::Decoder& decoder);

 private:
  bool go_to(std::size_t part, std::uint64_t offset);
  bool go_to(std::size_t part, std::uint64_t offset, decode::Decoder& decoder);
  std::string_view read(std::uint64_t bytes_max);

  const std::vector<FilePart>* parts_;
  std::optional<discover::FileReader> reader_;
  std::size_t part_ = 0;
  std::uint64_t at_ = 0;  // in the text of the part
  std::vector<char> chunk_;
};

}  // namespace l4::agent
