#include "agent/year_hints.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "agent/decode/decoder.h"
#include "agent/discover/file_reader.h"

namespace l4::agent {
namespace {

constexpr std::size_t kHeadBytes = 4096, kMoreBytes = 256 * 1024;

struct Printed {
  std::optional<TimeMs> first;  ///< the first stamp with a year
  bool lacks = false;           ///< a stamp without one stands before it
};

Printed printed_in(const discover::LogFile& file) {
  Printed printed;
  const auto& path = file.older.empty() ? file.path : file.older.front().path;
  auto reader = discover::FileReader::open(path);
  if (!reader) return printed;
  decode::Decoder* decoding = nullptr;
  decode::Decoder decoder({}, [&](const decode::Record& record) {
    if (printed.first) return;
    printed.first = record.time;
    printed.lacks |= !record.time && decoding->time_format() != "none";
  });
  decoding = &decoder;
  const auto search = [&](std::size_t size) {
    decoder.feed(discover::read_up_to(*reader, size));
    decoder.flush_block();
    decoder.release_held();
  };
  search(kHeadBytes);
  if (!printed.lacks || printed.first) return printed;
  search(kMoreBytes);
  const std::uint64_t read = kHeadBytes + kMoreBytes;
  const auto bytes = file.older.empty() ? file.bytes : file.older.front().bytes;
  if (!printed.first && reader->plain() && bytes > read + kMoreBytes &&
      reader->skip(bytes - read - kMoreBytes))
    search(kMoreBytes);
  return printed;
}

}  // namespace

std::vector<std::optional<TimeMs>> year_hints(const std::vector<discover::LogFile>& files) {
  std::vector<Printed> printed;
  printed.reserve(files.size());
  std::optional<TimeMs> newest;
  for (const discover::LogFile& file : files) {
    printed.push_back(printed_in(file));
    newest = std::max(newest, printed.back().first);
  }
  std::vector<std::optional<TimeMs>> hints;
  hints.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& file = files[i];
    const auto modified = file.older.empty() ? file.modified : file.older.front().modified;
    const auto known = printed[i].first ? printed[i].first : newest;
    hints.push_back(printed[i].lacks && known ? known : modified);
  }
  return hints;
}

}  // namespace l4::agent
