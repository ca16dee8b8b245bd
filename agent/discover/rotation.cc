#include "agent/discover/rotation.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "agent/decode/decoder.h"
#include "agent/discover/file_kind.h"
#include "agent/discover/file_reader.h"
#include "common/base/ascii.h"

namespace l4::discover {
namespace {

using Kind = RotatedName::Kind;

constexpr std::size_t kEndBytes = 16 * 1024;
constexpr Millis kOverlapMax{2'000};

/// `20261120`, `2026-11-20`, with a time of day behind it in any spelling.
bool is_date(std::string_view mark) {
  if (mark.size() < 8 || !(mark.starts_with("20") || mark.starts_with("19"))) return false;
  std::size_t digits = 0;
  for (const char c : mark) {
    if (!is_digit(c) && std::string_view{"-_T:Z"}.find(c) == std::string_view::npos) return false;
    digits += is_digit(c);
  }
  return digits >= 8;
}

/// Numbers of rotations count from 1; `.0` and `.00001` are ranks and parts.
bool is_number(std::string_view mark) {
  return !mark.empty() && mark.size() <= 4 && mark[0] != '0' &&
         std::all_of(mark.begin(), mark.end(), is_digit);
}

/// Sets kind and order by the mark of the rotation.
bool take_mark(std::string_view mark, RotatedName& name) {
  if (is_number(mark)) {
    // The largest number is the oldest: its complement sorts first.
    int value = 0;
    for (const char c : mark) value = value * 10 + (c - '0');
    name.kind = Kind::numbered;
    name.order = std::to_string(100'000 - value);
  } else if (is_date(mark)) {
    name.kind = Kind::dated;
    std::copy_if(mark.begin(), mark.end(), std::back_inserter(name.order), is_digit);
  } else if (mark == "old") {
    name.kind = Kind::old;
  } else {
    return false;
  }
  return true;
}

/// Numbers behind these words count processes, not rotations.
bool counts_processes(std::string_view stem) {
  constexpr std::array<std::string_view, 16> kWords{
      "rank",    "worker", "workerlog", "trainer", "node",  "gpu",  "task",  "proc",
      "process", "local",  "global",    "host",    "stage", "part", "shard", "device"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return stem.ends_with(word); });
}

struct Times {
  std::optional<TimeMs> first, last;
};

/// Newest and oldest time in a piece of a file.
void look_into(std::string_view text, const std::optional<TimeMs>& hint, Times& times) {
  decode::Options options;
  options.year_hint = hint;
  decode::Decoder decoder(options, [&](const decode::Record& record) {
    if (!record.time) return;
    if (!times.first) times.first = record.time;
    times.last = std::max(times.last.value_or(*record.time), *record.time);
  });
  decoder.feed(text);
  decoder.finish();
}

/// Time of a file's first line and, unless it is packed, of its last.
Times times_of(const LogFile& file) {
  Times times;
  auto reader = FileReader::open(file.path);
  if (!reader) return times;
  look_into(read_up_to(*reader, kEndBytes), file.modified, times);
  const bool more = file.bytes > kEndBytes;
  if (!reader->plain() ||
      (more && !reader->skip(file.bytes - std::min<std::uint64_t>(file.bytes, 2 * kEndBytes)))) {
    times.last.reset();
    return times;
  }
  if (more) {
    Times end;
    look_into(read_up_to(*reader, kEndBytes), file.modified, end);
    times.last = end.last;
  }
  return times;
}

struct Member {
  LogFile file;
  RotatedName name;
  Times times;
};

/// Oldest first. False if the files were written side by side.
bool sort_by_age(std::vector<Member>& members) {
  // Names do not tell whether a dated file is older than a numbered one.
  std::ranges::sort(members, {}, [](const Member& member) { return age_of(member.name); });
  for (Member& member : members) member.times = times_of(member.file);
  const bool timed = std::ranges::all_of(
      members, [](const Member& member) { return member.times.first.has_value(); });
  if (timed)
    std::ranges::stable_sort(members, {}, [](const Member& member) { return *member.times.first; });
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto& last = members[i - 1].times.last;
    const auto& first = members[i].times.first;
    if (last && first && *last > *first + kOverlapMax) return false;
  }
  return true;
}

bool packed(const Member& member) {
  const std::string& name = member.file.name;
  return name.ends_with(".gz") || name.ends_with(".zst");
}

/// True if the names may mean a rotation: there is a current file, or the marks are unambiguous.
bool plausible(const std::vector<Member>& members) {
  if (members.size() < 2) return false;
  const auto current = std::ranges::count(members, Kind::current,
                                          [](const Member& member) { return member.name.kind; });
  const bool inner =
      std::ranges::any_of(members, [](const Member& member) { return member.name.inner; });
  const bool sure = std::ranges::any_of(members, [](const Member& member) {
    return member.name.kind == Kind::dated || packed(member);
  });
  return current == 1 || (current == 0 && sure && !inner);
}

}  // namespace

RotatedName rotated_name(std::string_view name) {
  RotatedName result;
  for (const std::string_view packing : {".gz", ".zst"})
    if (name.ends_with(packing) && name.size() > packing.size()) name.remove_suffix(packing.size());
  result.base = name;
  const auto is_log = [](std::string_view text) {
    for (const std::string_view end : {".log", ".out", ".err", ".txt"})
      if (text.ends_with(end) && text.size() > end.size()) return true;
    return false;
  };
  // X.log.1, X.log-20261120: the mark is behind the extension.
  for (const std::string_view end : {".log", ".out", ".err", ".txt"}) {
    const std::size_t at = name.rfind(end);
    if (at == std::string_view::npos || at == 0 || at + end.size() + 1 >= name.size()) continue;
    const char sign = name[at + end.size()];
    if (sign != '.' && sign != '-' && sign != '_') continue;
    if (!take_mark(name.substr(at + end.size() + 1), result)) continue;
    result.base = name.substr(0, at + end.size());
    return result;
  }
  if (!is_log(name)) return result;
  // X.1.log, X-20261120.log: before the extension.
  const std::string_view stem = name.substr(0, name.size() - 4);
  const std::size_t dot = stem.rfind('.');
  const std::size_t date = stem.find_last_not_of("0123456789-_T:");
  for (const std::size_t sign : {dot, date}) {
    if (sign == std::string_view::npos || sign == 0 || sign + 2 > stem.size()) continue;
    std::size_t at = sign;
    if (at == date && at != dot) {
      ++at;
      if (at >= stem.size() || is_digit(stem[at])) continue;
    }
    const std::string_view mark = stem.substr(at + 1);
    if (counts_processes(stem.substr(0, at)) || (at != dot && !is_date(mark)) ||
        !take_mark(mark, result))
      continue;
    result.base = std::string(stem.substr(0, at)).append(name.substr(stem.size()));
    result.inner = true;
    return result;
  }
  return result;
}

std::vector<LogFile> join_rotated(std::vector<LogFile> files) {
  std::map<std::pair<std::string, std::string>, std::vector<Member>> families;  // folder and base
  std::vector<LogFile> result;
  for (LogFile& file : files) {
    const std::size_t slash = file.name.rfind('/');
    const std::size_t at = slash == std::string::npos ? 0 : slash + 1;
    RotatedName name = rotated_name(std::string_view(file.name).substr(at));
    auto& family = families[{file.path.parent_path().string(), name.base}];
    family.push_back({std::move(file), std::move(name), {}});
  }
  for (auto& [key, members] : families) {
    if (plausible(members) && sort_by_age(members)) {
      LogFile newest = std::move(members.back().file);
      for (std::size_t i = 0; i + 1 < members.size(); ++i) {
        const LogFile& file = members[i].file;
        newest.older.push_back(
            {file.path, file.name, file.bytes, file.modified, file.device, file.inode});
      }
      result.push_back(std::move(newest));
      continue;
    }
    for (Member& member : members) result.push_back(std::move(member.file));
  }
  std::ranges::sort(result, {}, &LogFile::name);
  return result;
}

}  // namespace l4::discover
