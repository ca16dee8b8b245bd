#include "agent/daemon/source_hints.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/thread.h"
#include "common/wire/greeting.h"

namespace l4::daemon {
namespace {

constexpr std::size_t kSaidMax = 1'000;

std::string hint_of(const tail::SurveyedSource& row) {
  if (row.files == 0)
    return fmt::format("source \"{}\" matches no log: {}", row.pattern,
                       row.hint.empty() ? "nothing is there yet" : row.hint);
  if (row.closed > 0)
    return fmt::format(
        "source \"{}\": {} may not be read, for example {}; give the agent's user the right to",
        row.pattern, row.closed == 1 ? "1 file" : fmt::format("{} files", row.closed),
        row.first_closed);
  return {};
}

/// Cuts the text to so many bytes, and not within a character.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
}

}  // namespace

bool SourceHints::poll(const std::vector<std::string>& sources,
                       const std::vector<std::string>& excludes, Millis now) {
  if (thread_.joinable()) {
    if (!done_) return false;
    thread_.join();
    if (!std::exchange(is_void_, false)) return apply(std::exchange(found_, {}), now);
  }
  if (now < due_at_) return false;
  due_at_ = now + kAgain;
  done_ = false;
  thread_ = start_thread("l4-hints", [this, sources, excludes] {
    if (auto rows = tail::survey_sources(sources, excludes)) found_ = std::move(*rows);
    done_ = true;
  });
  return false;
}

void SourceHints::restart(Millis now) {
  is_void_ = thread_.joinable();
  is_first_ = true;
  sizes_.clear();
  due_at_ = now + kFirst;
}

bool SourceHints::apply(const std::vector<tail::SurveyedSource>& rows, Millis now) {
  std::vector<std::string> hints;
  std::map<std::string, std::uint64_t> sizes;
  for (const tail::SurveyedSource& row : rows) {
    if (std::string hint = hint_of(row); !hint.empty()) hints.push_back(std::move(hint));
    for (const tail::UnreadFile& file : row.unread) {
      sizes[file.path] = file.bytes;
      const auto before = sizes_.find(file.path);
      if (before != sizes_.end() && before->second < file.bytes)
        hints.push_back(fmt::format(
            "{} grows and no source reads it: {}; to have it read, name it in [logs] sources",
            file.path, file.why));
    }
  }
  sizes_ = std::move(sizes);
  if (hints.size() > wire::kHintsMax) hints.resize(wire::kHintsMax);
  for (std::string& hint : hints) {
    cut(hint, wire::kHintBytesMax);
    if (said_.size() < kSaidMax && said_.insert(hint).second) log_.warn(hint, now);
  }
  if (std::exchange(is_first_, false))
    due_at_ = now + kFirst;
  else if (hints.empty())
    due_at_ = Millis::max();
  return std::exchange(hints_, std::move(hints)) != hints_;
}

}  // namespace l4::daemon
