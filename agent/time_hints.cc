#include "agent/time_hints.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "agent/decode/decoder.h"
#include "agent/discover/file_reader.h"

namespace l4::agent {
namespace {

constexpr std::size_t kHeadBytes = 4096, kMoreBytes = 256 * 1024;
constexpr std::size_t kUsualMin = 3;  // stamps of a file that outvote those of the others

/// What a file prints.
struct Printed {
  std::vector<TimeMs> times;  ///< of its first full stamps
  bool lacks = false;         ///< a stamp without a year stands before them
};

std::optional<TimeMs> median(std::vector<TimeMs> times) {
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

Printed printed_in(const discover::LogFile& file) {
  Printed printed;
  const auto& path = file.older.empty() ? file.path : file.older.front().path;
  auto reader = discover::FileReader::open(path);
  if (!reader) return printed;
  decode::Decoder* decoding = nullptr;
  decode::Options options;
  options.every_time = true;
  decode::Decoder decoder(options, [&](const decode::Record& record) {
    if (record.time)
      printed.times.push_back(*record.time);
    else if (printed.times.empty())
      printed.lacks |= decoding->time_format() != "none";
  });
  decoding = &decoder;
  const auto search = [&](std::size_t size) {
    decoder.feed(discover::read_up_to(*reader, size));
    decoder.flush_block();
    decoder.release_held();
  };
  search(kHeadBytes);
  if (!printed.lacks || !printed.times.empty()) return printed;
  search(kMoreBytes);
  const std::uint64_t read = kHeadBytes + kMoreBytes;
  const auto bytes = file.older.empty() ? file.bytes : file.older.front().bytes;
  if (printed.times.empty() && reader->plain() && bytes > read + kMoreBytes &&
      reader->skip(bytes - read - kMoreBytes))
    search(kMoreBytes);
  return printed;
}

}  // namespace

std::optional<TimeMs> printed_time(const std::vector<discover::LogFile>& files) {
  constexpr std::size_t kFilesAsked = 4;
  for (std::size_t i = 0; i < std::min(files.size(), kFilesAsked); ++i)
    if (const auto time = median(printed_in(files[i]).times)) return time;
  return std::nullopt;
}

std::vector<TimeHint> time_hints(const std::vector<discover::LogFile>& files,
                                 std::optional<TimeMs> of_job) {
  std::vector<Printed> printed;
  printed.reserve(files.size());
  std::vector<TimeMs> of_files;
  for (const discover::LogFile& file : files) {
    printed.push_back(printed_in(file));
    if (const auto own = median(printed.back().times)) of_files.push_back(*own);
  }
  const auto of_most = median(of_files);
  std::vector<TimeHint> hints;
  hints.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& file = files[i];
    const auto modified = file.older.empty() ? file.modified : file.older.front().modified;
    const auto own = median(printed[i].times);
    TimeHint hint{modified, printed[i].times.size() >= kUsualMin ? own : of_most};
    if (printed[i].lacks && of_most) hint.year = own ? own : of_most;
    if (printed[i].lacks && !of_most && of_job) hint.year = of_job;
    hints.push_back(hint);
  }
  return hints;
}

}  // namespace l4::agent
