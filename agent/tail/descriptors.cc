// The part of Scanner that keeps within the descriptors there are.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/tail/scanner.h"

namespace l4::tail {

/// Closes the file that was used longest ago, one that can not be opened again last.
bool Scanner::make_room() {
  const auto use = [](const LogPart* part) { return std::pair(!part->named, part->used); };
  const auto oldest = std::ranges::min_element(context_.open, {}, use);
  if (oldest == context_.open.end()) return false;
  LogPart& part = **oldest;
  ++context_.counters.closed_for_others;
  context_.close_file(part);
  if (part.named) return true;
  // Deleted: it may have been packed, and that will be found.
  part.give_up = std::min(part.give_up, context_.now.steady + context_.options.search);
  context_.set_alarm(part, part.give_up);
  context_.touch(part);
  return true;
}

Outcome<std::unique_ptr<File>> Scanner::open_file(const std::string& path) {
  std::size_t& most = context_.options.descriptors_max;
  while (context_.open.size() >= most && make_room()) {
  }
  auto opened = context_.files.open(path);
  if (opened || (opened.error() != EMFILE && opened.error() != ENFILE)) return opened;
  // Others of this process need them too: stay at what there is now, less some.
  most = std::max(kOpenMin, std::min(most, context_.open.size()) * 7 / 8);
  if (!told_open_)
    context_.warn("descriptors", "", "no more files can be opened; some are closed for others");
  told_open_ = true;
  while (context_.open.size() >= most && make_room()) {
  }
  return context_.files.open(path);
}

}  // namespace l4::tail
