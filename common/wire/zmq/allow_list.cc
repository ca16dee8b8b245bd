#include "common/wire/zmq/allow_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/wire/control.h"
#include "common/wire/zmq/curve_key.h"

namespace l4::wire {
namespace {

constexpr std::uintmax_t kFileBytesMax = 64u << 20;
constexpr Millis kLookEvery{1'000};

/// The next word, and `line` moves on behind it.
std::string_view word_of(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
  const auto word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

}  // namespace

Result<AllowList> AllowList::parse(std::string_view text, const std::string& file) {
  AllowList list;
  std::size_t number = 0;
  const auto wrong = [&](const std::string& reason) {
    return std::unexpected(Error{fmt::format("{}:{}", file, number), reason});
  };
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto name = word_of(line);
    if (name.empty() || name.starts_with('#')) continue;
    const auto key = word_of(line);
    if (name != kFleetKeyName && !is_node_name(name))
      return wrong("not the name of a node: letters, digits and ._:- are allowed");
    if (key.empty()) return wrong(fmt::format("no key behind {}", name));
    if (!is_curve_key(key))
      return wrong(fmt::format("no CURVE key behind {}: 40 characters of Z85 are", name));
    if (!word_of(line).empty()) return wrong("more than a name and a key");
    const auto [entry, fresh] = list.by_key_.try_emplace(std::string(key), list.entries_.size());
    if (!fresh)
      return wrong(fmt::format("{} has the key of {}", name, list.entries_[entry->second].name));
    list.entries_.push_back({std::string(name), std::string(key)});
    list.names_.emplace(name);
  }
  return list;
}

Result<AllowList> AllowList::load(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return std::unexpected(Error{file.string(), "is a folder"});
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::unexpected(Error{
        file.string(), std::generic_category().message(errno) +
                           "; 'l4 keys init' makes it, and the aggregator's user must own it"});
  if (std::filesystem::file_size(file, ignored) > kFileBytesMax)
    return std::unexpected(Error{file.string(), "is longer than 64 MiB"});
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse(text, file.string());
}

const std::string* AllowList::name_of(const std::string& public_key) const {
  const auto found = by_key_.find(public_key);
  return found == by_key_.end() ? nullptr : &entries_[found->second].name;
}

WatchedAllowList::Stamp WatchedAllowList::stamp_of(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec, found.st_ino,
          static_cast<std::uint64_t>(found.st_size)};
}

Result<WatchedAllowList> WatchedAllowList::open(const std::filesystem::path& file) {
  WatchedAllowList watched;
  watched.file_ = file;
  watched.stamp_ = stamp_of(file);
  auto list = AllowList::load(file);
  if (!list) return std::unexpected(list.error());
  watched.list_ = std::move(*list);
  return watched;
}

std::optional<PortNotice> WatchedAllowList::refresh(Millis now) {
  if (now - looked_ < kLookEvery) return std::nullopt;
  looked_ = now;
  const Stamp stamp = stamp_of(file_);
  if (stamp == stamp_) return std::nullopt;
  stamp_ = stamp;
  auto list = AllowList::load(file_);
  if (!list)
    return PortNotice{fmt::format("the allow list stays as it was ({} keys): {}",
                                  list_.entries().size(), list.error().text()),
                      true};
  list_ = std::move(*list);
  return PortNotice{fmt::format("the allow list was read again: {} keys", list_.entries().size())};
}

}  // namespace l4::wire
