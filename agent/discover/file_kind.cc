#include "agent/discover/file_kind.h"

#include <algorithm>
#include <array>

#include "agent/discover/file_reader.h"

namespace l4::discover {
namespace {

constexpr std::size_t kHeadBytes = 4096;

constexpr std::array<std::string_view, 66> kDataExtensions{
    "csv",   "tsv",    "json",     "pt",       "pth",     "bin",   "safetensors", "ckpt",  "npy",
    "npz",   "pkl",    "pickle",   "idx",      "parquet", "arrow", "h5",          "hdf5",  "so",
    "o",     "a",      "pyc",      "png",      "jpg",     "jpeg",  "gif",         "svg",   "pdf",
    "zip",   "tar",    "tgz",      "xz",       "bz2",     "zst",   "whl",         "db",    "sqlite",
    "lock",  "distcp", "nsys-rep", "qdrep",    "ncu-rep", "yaml",  "yml",         "toml",  "ini",
    "cfg",   "conf",   "py",       "sh",       "sbatch",  "md",    "html",        "xml",   "proto",
    "model", "vocab",  "tfevents", "metadata", "pid",     "ms",    "jsonl",       "ipynb", "prom",
    "c",     "cc",     "h"};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A control character that no terminal output has.
bool is_odd(unsigned char byte) {
  constexpr std::string_view kUsual{"\0\t\n\r\b\a\f\x1b", 8};
  return byte == 0x7f || (byte < 0x20 && kUsual.find(static_cast<char>(byte)) == kUsual.npos);
}

/// A byte order mark, or every second byte NUL and the others text, as of Latin letters.
bool is_utf16(std::string_view head) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return true;
  std::array<std::size_t, 2> nul{}, text{};
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto byte = static_cast<unsigned char>(head[i]);
    nul[i % 2] += byte == 0;
    text[i % 2] += (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
  }
  const std::size_t half = head.size() / 2;
  for (const std::size_t zero : {0, 1})
    if (half >= 8 && nul[zero] * 10 >= half * 8 && text[1 - zero] * 10 >= half * 8) return true;
  return false;
}

}  // namespace

std::string_view plain_name(std::string_view name) {
  if (name.ends_with(".gz") && name.size() > 3) name.remove_suffix(3);
  // x.log.1 and x.log-20260101 are rotated; rank.1 and nccl.host.4711 are not.
  const std::size_t mark = name.find_last_of(".-");
  if (mark == std::string_view::npos || !all_digits(name.substr(mark + 1))) return name;
  const std::string_view rest = name.substr(0, mark);
  for (const std::string_view end : {".log", ".out", ".err", ".txt"})
    if (rest.ends_with(end)) return rest;
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

Result<Content> content_of(const std::filesystem::path& path) {
  auto reader = FileReader::open(path);
  if (!reader) return std::unexpected(reader.error());
  std::array<char, kHeadBytes> head{};
  std::size_t size = 0;
  while (size < head.size()) {
    const auto n = reader->read({head.data() + size, head.size() - size});
    if (!n && size == 0) return std::unexpected(n.error());
    if (!n || *n == 0) break;
    size += *n;
  }
  if (is_utf16({head.data(), size})) return Content::utf16;
  std::size_t nul = 0;
  std::size_t odd = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(head[i]);
    nul += byte == 0;
    odd += is_odd(byte);
  }
  // Crashed writers leave holes of NUL in logs; a table of numbers has NUL all over. Of random
  // bytes, as compressed data are, every tenth is a control character.
  return nul * 10 <= size * 3 && odd * 20 <= size ? Content::text : Content::binary;
}

}  // namespace l4::discover
