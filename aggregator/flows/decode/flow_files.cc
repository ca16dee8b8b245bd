#include "aggregator/flows/decode/flow_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "aggregator/flows/decode/csv.h"
#include "aggregator/flows/decode/export_packets.h"
#include "aggregator/flows/decode/nfdump.h"

namespace l4::flows::decode {
namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { csv, ipfix, nfcapd, other, unreadable };

constexpr std::size_t kChunk = 1 << 20;

/// A CSV file is one by the names in its first line.
Kind kind_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 4096> bytes{};
  if (!in) return Kind::unreadable;
  in.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(in.gcount()));
  if (head.size() >= 2 && head[0] == 0 && head[1] == 10) return Kind::ipfix;
  if (head.starts_with("\x0c\xa5") || head.starts_with("\xa5\x0c")) return Kind::nfcapd;
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find("start_ns") != line.npos && line.find(',') != line.npos ? Kind::csv
                                                                           : Kind::other;
}

Error unreadable(const fs::path& file) {
  return {file.string(), errno != 0 ? std::strerror(errno) : "cannot be read"};
}

Result<void> read_csv(const fs::path& file, Exporters& exporters, Counts& counts,
                      const Sink& sink) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::unexpected(unreadable(file));
  CsvReader reader(file.string(), exporters);
  std::string bytes(kChunk, '\0');
  while (in.read(bytes.data(), kChunk) || in.gcount() > 0)
    if (auto fed = reader.feed({bytes.data(), static_cast<std::size_t>(in.gcount())}, sink); !fed)
      return fed;
  if (auto done = reader.finish(sink); !done) return done;
  counts.add(reader.counts());
  return {};
}

/// Messages one after another, each with its length in its header.
Result<void> read_ipfix(const fs::path& file, ExportDecoder& decoder, Counts& counts,
                        const Sink& sink) {
  constexpr std::size_t kHeader = 16;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::unexpected(unreadable(file));
  std::string bytes;
  const std::string source = file.filename().string();
  for (std::uint64_t at = 0;; at += bytes.size()) {
    bytes.resize(kHeader);
    in.read(bytes.data(), kHeader);
    if (in.gcount() == 0) break;
    const std::string where = fmt::format("{}, byte {}", file.string(), at);
    const auto length = (static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[2])) << 8) |
                        static_cast<std::uint8_t>(bytes[3]);
    if (static_cast<std::size_t>(in.gcount()) < kHeader || length < kHeader) {
      counts.complain(where, "no message of IPFIX begins here; the rest of the file is left out");
      break;
    }
    bytes.resize(length);
    in.read(bytes.data() + kHeader, static_cast<std::streamsize>(length - kHeader));
    if (static_cast<std::size_t>(in.gcount()) < length - kHeader) {
      counts.complain(where, "the last message is cut short");
      break;
    }
    decoder.message(bytes, source, where, sink);
  }
  return {};
}

}  // namespace

Result<FlowFiles> find_flow_files(const std::vector<fs::path>& paths) {
  FlowFiles found;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error))
      return std::unexpected(Error{path.string(), error ? error.message() : "is not there"});
    if (!fs::is_directory(path, error)) {
      const Kind kind = kind_of(path);
      if (kind == Kind::unreadable) return std::unexpected(unreadable(path));
      if (kind == Kind::other)
        return std::unexpected(Error{path.string(),
                                     "is neither CSV with the columns start_ns, end_ns, src, dst, "
                                     "bytes nor IPFIX nor a file of nfcapd"});
      found.read.push_back(path);
      continue;
    }
    std::array<std::vector<fs::path>, 3> kinds;
    for (auto entry = fs::directory_iterator(path, error); entry != fs::directory_iterator();
         entry.increment(error)) {
      if (!entry->is_regular_file(error)) continue;
      if (entry->path().filename() == "topology.json") found.topology = entry->path();
      const auto kind = static_cast<std::size_t>(kind_of(entry->path()));
      if (kind < kinds.size()) kinds[kind].push_back(entry->path());
    }
    if (error) return std::unexpected(Error{path.string(), error.message()});
    bool is_first = true;
    for (auto& files : kinds) {
      std::ranges::sort(files);
      auto& to = is_first ? found.read : found.left_out;
      to.insert(to.end(), files.begin(), files.end());
      is_first = is_first && files.empty();
    }
  }
  if (found.read.empty())
    return std::unexpected(
        Error{paths.empty() ? "" : paths.front().string(), "holds no files of flow records"});
  return found;
}

Result<void> read_flows(FlowFiles& files, const Sink& sink) {
  Exporters exporters;
  ExportDecoder decoder(exporters);
  ExporterSettings sampled{0, 0, 0, false};
  for (const fs::path& file : files.read) {
    errno = 0;
    Result<void> done;
    if (const Kind kind = kind_of(file); kind == Kind::csv)
      done = read_csv(file, exporters, files.counts, sink);
    else if (kind == Kind::ipfix)
      done = read_ipfix(file, decoder, files.counts, sink);
    else
      done = read_nfcapd(file, files.counts, sampled, sink);
    if (!done) return done;
  }
  files.counts.add(decoder.counts());
  files.announced = sampled.sampling > 0 ? sampled : decoder.announced();
  return {};
}

}  // namespace l4::flows::decode
