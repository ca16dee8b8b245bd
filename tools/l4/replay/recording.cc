#include "tools/l4/replay/recording.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "agent/discover/discover.h"
#include "agent/discover/file_reader.h"
#include "agent/discover/rotation.h"

namespace l4::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 1 << 20;
constexpr std::string_view kNoNode = "node";

/// Reads the files of one log into one text.
class TextReader {
 public:
  TextReader(Log& log, std::uint64_t bytes_left, std::vector<std::string>& notes)
      : log_(log), bytes_left_(bytes_left), notes_(notes) {}

  /// Error only if the bound was reached.
  Result<void> add(const fs::path& path, const std::string& name);

 private:
  void note(const std::string& name, const std::string& reason);

  Log& log_;
  std::uint64_t bytes_left_;
  std::vector<std::string>& notes_;
};

void TextReader::note(const std::string& name, const std::string& reason) {
  notes_.push_back(name + ": " + reason + "; it is replayed up to there");
}

Result<void> TextReader::add(const fs::path& path, const std::string& name) {
  std::string& text = log_.text;
  // A line never goes on in the next file of a rotated log.
  if (!text.empty() && text.back() != '\n') text += '\n';
  auto reader = discover::FileReader::open(path);
  if (!reader) {
    note(name, reader.error().reason);
    return {};
  }
  for (;;) {
    const std::size_t filled = text.size();
    text.resize(filled + kChunkBytes);
    const auto read = reader->read({text.data() + filled, kChunkBytes});
    text.resize(filled + read.value_or(0));
    if (text.size() > bytes_left_)
      return std::unexpected(Error{path.string(), "is beyond the bound"});
    if (!read) note(name, read.error().reason);
    if (!read || *read == 0) break;
  }
  if (reader->left_out() > 0)
    note(name, std::to_string(reader->left_out()) + " bytes behind the packed text are no text");
  return {};
}

/// Where the log is written below the folder of its node.
fs::path place_of(const std::string& name, const std::string& node) {
  const fs::path path{name};
  fs::path place;
  auto part = path.begin();
  if (part != path.end() && *part == node && std::next(part) != path.end()) ++part;
  for (; part != path.end(); ++part) place /= *part;
  const std::string base = discover::rotated_name(place.filename().string()).base;
  return place.parent_path() / base;
}

/// The node of logs whose path names none: what stands in for it, if that is the same for all of
/// them, as for the logs of one node's folder.
std::string node_of_others(const std::vector<discover::LogFile>& files) {
  std::string node;
  for (const discover::LogFile& file : files) {
    if (file.node_known || file.node == node) continue;
    if (!node.empty()) return std::string(kNoNode);
    node = file.node;
  }
  return node;
}

void note_warnings(const std::vector<wire::Warning>& warnings, std::vector<std::string>& notes) {
  constexpr std::size_t kNamedMax = 5;
  for (std::size_t i = 0; i < std::min(kNamedMax, warnings.size()); ++i)
    notes.push_back(warnings[i].file + ": " + warnings[i].reason +
                    "; not replayed, as no agent would read it");
  if (warnings.size() > kNamedMax)
    notes.push_back(std::to_string(warnings.size() - kNamedMax) +
                    " more entries of the folder are not replayed, for like reasons");
}

Error too_much(const fs::path& from, std::uint64_t bytes_max) {
  return {from.string(), "holds more than " + std::to_string(bytes_max >> 20) +
                             " MiB of text, and a replay keeps all of it in memory; "
                             "give the folder of one job, or of some of its nodes"};
}

}  // namespace

Result<Recording> read_recording(const fs::path& from, std::uint64_t bytes_max) {
  std::error_code error;
  if (!fs::is_directory(from, error))
    return std::unexpected(Error{from.string(), error ? error.message() : "is no folder"});
  auto found = discover::discover({from});
  if (!found) return std::unexpected(found.error());
  Recording recording;
  note_warnings(found->warnings, recording.notes);
  std::set<fs::path> taken;
  std::set<std::string> nodes;
  std::uint64_t bytes_left = bytes_max;
  const std::string other = node_of_others(found->files);
  for (const discover::LogFile& file : found->files) {
    Log log;
    log.name = file.name;
    log.node = file.node_known ? file.node : other;
    log.attempt = file.attempt;
    log.modified = file.modified;
    log.file = place_of(file.name, log.node);
    // Logs that were written side by side may have names that differ in the rotation only.
    if (!taken.insert(fs::path{log.node} / log.file).second)
      log.file = log.file.parent_path() / fs::path{file.name}.filename();
    TextReader reader{log, bytes_left, recording.notes};
    for (const discover::OlderFile& older : file.older)
      if (!reader.add(older.path, older.name)) return std::unexpected(too_much(from, bytes_max));
    if (!reader.add(file.path, file.name)) return std::unexpected(too_much(from, bytes_max));
    log.text.shrink_to_fit();
    bytes_left -= log.text.size();
    nodes.insert(log.node);
    recording.logs.push_back(std::move(log));
  }
  recording.nodes.assign(nodes.begin(), nodes.end());
  return recording;
}

}  // namespace l4::replay
