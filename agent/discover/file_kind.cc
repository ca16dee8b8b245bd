#include "agent/discover/file_kind.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "agent/decode/structured_line.h"
#include "agent/decode/utf16.h"
#include "agent/discover/file_reader.h"
#include "common/base/find_bytes.h"

namespace l4::discover {
namespace {

constexpr std::size_t kSampleBytes = 4096;

constexpr std::array<std::string_view, 66> kDataExtensions{
    "csv",   "tsv",    "json",     "pt",       "pth",     "bin",   "safetensors", "ckpt",  "npy",
    "npz",   "pkl",    "pickle",   "idx",      "parquet", "arrow", "h5",          "hdf5",  "so",
    "o",     "a",      "pyc",      "png",      "jpg",     "jpeg",  "gif",         "svg",   "pdf",
    "zip",   "tar",    "tgz",      "xz",       "bz2",     "zst",   "whl",         "db",    "sqlite",
    "lock",  "distcp", "nsys-rep", "qdrep",    "ncu-rep", "yaml",  "yml",         "toml",  "ini",
    "cfg",   "conf",   "py",       "sh",       "sbatch",  "md",    "html",        "xml",   "proto",
    "model", "vocab",  "tfevents", "metadata", "pid",     "ms",    "jsonl",       "ipynb", "prom",
    "c",     "cc",     "h"};

/// A control character that no terminal output has.
bool is_odd(unsigned char byte) {
  constexpr std::string_view kUsual{"\0\t\n\r\b\a\f\x1b", 8};
  return byte == 0x7f || (byte < 0x20 && kUsual.find(static_cast<char>(byte)) == kUsual.npos);
}

/// Reads until the buffer is full or the file ends. An error ends it, too, behind what was read.
Result<std::size_t> fill(FileReader& reader, std::span<char> buffer) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const auto n = reader.read(buffer.subspan(size));
    if (!n && size == 0) return std::unexpected(n.error());
    if (!n || *n == 0) break;
    size += *n;
  }
  return size;
}

/// NULs of the lines that are not UTF-16; the decoder reads such lines among others.
std::size_t nul_without_utf16(std::string_view text) {
  std::size_t count = 0;
  std::string ignored;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = behind_hole(text.substr(0, end));
    if (!decode::decode_utf16_line(line, ignored))
      count += static_cast<std::size_t>(std::ranges::count(line, '\0'));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return count;
}

}  // namespace

std::string_view plain_name(std::string_view name) {
  for (const std::string_view packing : {".gz", ".zst"})
    if (name.ends_with(packing) && name.size() > packing.size()) name.remove_suffix(packing.size());
  // x.log.1, x.log-20260101 and x.log.2026-01-01_10-00-00 are rotated; rank.1 and
  // nccl.host.4711 are not.
  for (const std::string_view end : {".log", ".out", ".err", ".txt"}) {
    const std::size_t at = name.rfind(end);
    if (at == std::string_view::npos || at + end.size() + 1 >= name.size()) continue;
    const char sign = name[at + end.size()];
    const std::string_view mark = name.substr(at + end.size() + 1);
    const bool rotated = mark == "old" || (mark[0] >= '0' && mark[0] <= '9' &&
                                           mark.find_first_not_of("0123456789-_T:Z") == mark.npos);
    if ((sign == '.' || sign == '-' || sign == '_') && rotated)
      return name.substr(0, at + end.size());
  }
  return name;
}

bool has_data_extension(std::string_view file_name) {
  if (file_name.find(".tar.") != std::string_view::npos ||
      file_name.find("tfevents") != std::string_view::npos)
    return true;
  const std::string_view name = plain_name(file_name);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension{name.substr(dot + 1)};
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::find(kDataExtensions.begin(), kDataExtensions.end(), extension) !=
         kDataExtensions.end();
}

bool has_json_extension(std::string_view file_name) {
  const std::string_view name = plain_name(file_name);
  return name.ends_with(".json") || name.ends_with(".jsonl");
}

bool is_json_log_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  decode::StructuredLine fields;
  return fields.read_json(line) && !fields.text().empty() &&
         (fields.stamp || fields.level != Level::unknown);
}

bool is_job_state(std::string_view json) {
  constexpr std::array<std::string_view, 8> kStates{
      "status",          "state",     "phase",         "lastState", "TrainingJobStatus",
      "SecondaryStatus", "job_state", "lifecycleState"};
  constexpr std::array<std::string_view, 10> kReasons{
      "exitCode",      "exit_code",     "ExitCode",     "statusReason", "reason",
      "FailureReason", "failureReason", "state_reason", "StateReason",  "errorMessage"};
  bool state = false, reason = false;
  while (!(state && reason)) {
    const std::size_t open = json.find('"');
    const std::size_t close = json.find('"', std::min(open, json.size() - 1) + 1);
    if (open == json.npos || close == json.npos) return false;
    const std::string_view key = json.substr(open + 1, close - open - 1);
    json.remove_prefix(close + 1);
    const std::size_t next = json.find_first_not_of(" \t\r\n");
    if (next == json.npos || json[next] != ':') continue;
    state |= std::ranges::find(kStates, key) != kStates.end();
    reason |= std::ranges::find(kReasons, key) != kReasons.end();
  }
  return true;
}

bool holds_json_log(const std::filesystem::path& path) {
  constexpr std::size_t kHeadBytesMax = 64 * 1024;
  if (!has_json_extension(path.native())) return false;
  auto reader = FileReader::open(path);
  if (!reader) return false;
  std::string head(kHeadBytesMax, '\0');
  head.resize(fill(*reader, head).value_or(0));
  const std::string_view all{head};
  return is_json_log_line(all.substr(0, all.find('\n'))) ||
         (plain_name(path.native()).ends_with(".json") && is_job_state(all));
}

bool may_hold_lines(std::string_view file_name) {
  constexpr std::array<std::string_view, 7> kTexts{".json", ".jsonl", ".md",   ".csv",
                                                   ".tsv",  ".html",  ".ipynb"};
  const std::string_view name = plain_name(file_name);
  return std::ranges::any_of(kTexts, [&](std::string_view end) { return name.ends_with(end); });
}

Content content_of_head(std::string_view head) {
  head = behind_hole(head);
  std::size_t nul = 0;
  std::size_t odd = 0;
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    nul += byte == 0;
    odd += is_odd(byte);
  }
  // Crashed writers leave holes of NUL in logs; a table of numbers has NUL all over. Every tenth of
  // random bytes, such as compressed data, is a control character.
  if (odd * 20 > head.size()) return Content::binary;
  return nul * 10 <= head.size() * 3 || nul_without_utf16(head) * 10 <= head.size() * 3
             ? Content::text
             : Content::binary;
}

Result<Content> content_of(const std::filesystem::path& path) {
  auto reader = FileReader::open(path);
  if (!reader) return std::unexpected(reader.error());
  std::array<char, kSampleBytes> head{};
  for (std::uint64_t hole = 0;; hole += head.size()) {
    const auto read = fill(*reader, head);
    if (!read && hole == 0) return std::unexpected(read.error());
    const std::size_t size = read.value_or(0);
    const std::string_view all{head.data(), size};
    if (!behind_hole(all).empty()) return content_of_head(all);
    if (size < head.size() || hole >= kHoleBytesMax)
      return size == 0 && hole == 0 ? Content::text : Content::binary;
  }
}

}  // namespace l4::discover
