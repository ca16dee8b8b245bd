#include "agent/tail/file_probe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/discover/file_kind.h"
#include "common/base/find_bytes.h"

namespace l4::tail {
namespace {

constexpr std::size_t kJsonLineMax = 64 * 1024;

/// The first bytes behind a hole (NULs) at the begin of the file; empty if there are none yet.
std::string head_of_text(TextFile& text, std::string head) {
  for (std::uint64_t at = 0; head.size() == kHeadBytes && at < discover::kHoleBytesMax;) {
    if (!behind_hole(head).empty()) return head;
    at += head.size();
    const auto piece = text.read(at, head);
    head.resize(piece ? piece->bytes : 0);
  }
  return std::string(behind_hole(head));
}

}  // namespace

bool FileProbe::open(Candidate& file, Inspection& inspection) {
  file.path = path_in(file.folder.path, file.entry.name);
  auto opened = open_files_.open(file.path);
  if (!opened) {
    retry_later(file, inspection, opened.error());
    return false;
  }
  const auto status = (*opened)->status();
  if (!status || status->inode != file.entry.status.inode ||
      status->device != file.entry.status.device) {
    folders_.mark_dirty(file.folder);
    return false;
  }
  auto text = TextFile::make(std::move(*opened));
  if (!text) {
    retry_later(file, inspection, text.error());
    return false;
  }
  file.text = std::make_unique<TextFile>(std::move(*text));
  const auto steady = measure(file);
  if (!steady) {
    retry_later(file, inspection, steady.error());
    return false;
  }
  if (!*steady) folders_.mark_dirty(file.folder);
  inspection.warned = false;
  return *steady;
}

/// Reads the first bytes and the size of one and the same text. The file may be truncated and
/// rewritten at this moment; the size of the old text must not be taken for that of the new one.
Outcome<bool> FileProbe::measure(Candidate& file) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    auto before = file.text->head(kHeadBytes);
    if (!before) return std::unexpected(before.error());
    file.head = std::move(*before);
    file.bytes = 0;
    if (file.text->packed()) return true;
    const auto status = file.text->status();
    if (!status) return std::unexpected(status.error());
    const auto after = file.text->head(kHeadBytes);
    if (!after) return std::unexpected(after.error());
    if (after->empty() != file.head.empty() || !after->starts_with(file.head)) continue;
    if (!file.head.empty()) file.bytes = std::max<std::uint64_t>(status->bytes, file.head.size());
    return true;
  }
  return false;
}

void FileProbe::retry_later(Candidate& file, Inspection& inspection, int error) {
  if (error == ENOENT) return;
  ++context_.counters.read_errors;
  const bool scarce = error == EMFILE || error == ENFILE;
  if (!inspection.warned && !scarce)
    context_.warn("unreadable", file.path, std::strerror(error), file.entry.status.bytes);
  inspection.warned = inspection.warned || !scarce;
  const Millis most = scarce ? Millis{1'000} : context_.options.retry_max;
  inspection.backoff =
      std::clamp(2 * inspection.backoff, Millis{1'000}, std::max(most, Millis{1'000}));
  inspection.retry = context_.now.steady + inspection.backoff;
  folders_.set_alarm(file.folder, inspection.retry);
}

bool FileProbe::is_log(const Candidate& file, Inspection& inspection) {
  const std::string head = head_of_text(*file.text, file.head);
  if (head.empty() && !file.head.empty()) return false;  // a hole whose text is still to come
  if (discover::content_of_head(head) == discover::Content::binary) {
    inspection.decided = true;
    ++context_.counters.left_out;
    context_.warn("binary", file.path, "its first 4 KiB are not text", file.entry.status.bytes);
    return false;
  }
  const bool asked = folders_.sources().wanted(file.folder.path, file.entry.base,
                                               file.entry.name) == Wanted::by_name;
  if (asked || !discover::has_json_extension(file.entry.name)) return true;
  const auto line = file.text->head(kJsonLineMax);
  if (!line) return false;
  const std::size_t end = line->find('\n');
  if (end == std::string::npos && line->size() < kJsonLineMax) return false;  // not written yet
  if (discover::is_json_log_line(std::string_view(*line).substr(0, end))) return true;
  inspection.decided = true;
  ++context_.counters.left_out;
  return false;
}

}  // namespace l4::tail
