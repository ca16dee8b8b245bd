#include "agent/tail/open_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace l4::tail {

bool OpenFiles::make_room() {
  const auto use = [](const LogPart* part) { return std::pair(!part->named, part->used); };
  const auto oldest = std::ranges::min_element(context_.open, {}, use);
  if (oldest == context_.open.end()) return false;
  LogPart& part = **oldest;
  ++context_.counters.closed_for_others;
  context_.close_file(part);
  if (part.named) return true;
  // A deleted file may have been packed; the search will find the packed file.
  part.give_up = std::min(part.give_up, context_.now.steady + context_.options.search);
  context_.set_alarm(part, part.give_up);
  context_.touch(part);
  return true;
}

Outcome<std::unique_ptr<File>> OpenFiles::open(const std::string& path) {
  std::size_t& most = context_.options.descriptors_max;
  while (context_.open.size() >= most && make_room()) {
  }
  auto opened = context_.files.open(path);
  if (opened || (opened.error() != EMFILE && opened.error() != ENFILE)) return opened;
  // Other code of the process needs descriptors too: stay below what is open now.
  most = std::max(kOpenMin, std::min(most, context_.open.size()) * 7 / 8);
  if (!warned_)
    context_.warn("descriptors", "", "no more files can be opened; some are closed for others");
  warned_ = true;
  while (context_.open.size() >= most && make_room()) {
  }
  return context_.files.open(path);
}

}  // namespace l4::tail
