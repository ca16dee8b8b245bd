#include "agent/lines/read_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/lines/search.h"
#include "common/wire/codec/lines_codec.h"

namespace l4::lines {
namespace {

/// Bound on lines of an answer, hits and context together.
constexpr std::size_t kAllLinesMax = 40'000;
constexpr std::uint64_t kReadLeast = 1u << 20;

/// Gathers the found lines into parts.
class Parts {
 public:
  void add(Found found) {
    bytes_read_ += found.read_bytes;
    redacted_ += found.redacted;
    for (wire::LinesGap& gap : found.gaps) add(std::move(gap));
    std::vector<std::uint32_t> names(found.files.size(), kNone);
    for (wire::RawLine& line : found.lines) {
      const std::size_t bytes = wire::encoded_bytes(line);
      if (parts_.empty() || filled_ + bytes > wire::kLinesPartBytes) {
        parts_.emplace_back();
        filled_ = 0;
        std::ranges::fill(names, kNone);
      }
      wire::LinesAnswer& part = parts_.back();
      std::uint32_t& name = names[line.file];
      if (name == kNone) {
        name = static_cast<std::uint32_t>(part.files.size());
        part.files.push_back(found.files[line.file]);
        filled_ += found.files[line.file].size() + 16;
      }
      line.file = name;
      filled_ += bytes;
      part.lines.push_back(std::move(line));
    }
  }

  void add(wire::LinesGap gap) {
    if (gaps_.size() >= wire::kLinesGapsMax) return;
    gap.file.resize(std::min<std::size_t>(gap.file.size(), 4096));
    gap.text.resize(std::min<std::size_t>(gap.text.size(), 1024));
    gaps_.push_back(std::move(gap));
  }

  /// Adds gaps and counts to the last part.
  std::vector<wire::LinesAnswer> finish() {
    wire::LinesAnswer& last = parts_.emplace_back();
    last.gaps = std::move(gaps_);
    last.bytes_read = bytes_read_;
    last.redacted = redacted_;
    return std::move(parts_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<wire::LinesAnswer> parts_;
  std::vector<wire::LinesGap> gaps_;
  std::size_t filled_ = 0;
  std::uint64_t bytes_read_ = 0, redacted_ = 0;
};

}  // namespace

std::vector<wire::LinesAnswer> read_lines(const Task& task, tail::FileSystem& files,
                                          const std::function<Millis()>& now,
                                          const std::function<bool()>& stop) {
  const wire::LinesQuestion& question = task.question;
  const Millis time_max = std::min(task.bounds.time_max, Millis{question.timeout_ms});
  const Millis until = now() + time_max;
  std::uint64_t read_left = task.bounds.read_bytes_max;
  std::uint64_t text_left = std::min(task.bounds.text_bytes_max, question.bytes_max);
  std::size_t lines_left =
      std::min<std::size_t>(question.lines_max, kAllLinesMax / (2 * question.context + 1));
  Parts parts;
  for (const wire::LinesGap& gap : task.gaps) parts.add(gap);
  for (std::size_t i = 0; i < task.logs.size(); ++i) {
    const std::size_t logs = task.logs.size() - i;
    const AskedLog& log = task.logs[i];
    if (now() >= until || stop()) {
      parts.add({wire::LinesGapKind::limit_time, std::nullopt, "",
                 fmt::format("{} were over with {} logs still to be looked at", to_human(time_max),
                             logs)});
      break;
    }
    if (lines_left == 0 || text_left == 0) {
      const bool lines = lines_left == 0;
      parts.add({lines ? wire::LinesGapKind::limit_lines : wire::LinesGapKind::limit_bytes,
                 std::nullopt, "",
                 fmt::format("the answer was full with {} logs still to be looked at", logs)});
      break;
    }
    Budget budget;
    budget.read_bytes = std::max(read_left / logs, kReadLeast);
    budget.text_bytes = std::max<std::uint64_t>(text_left / logs, 1);
    budget.lines = std::max<std::size_t>(lines_left / logs, 1);
    budget.over = [&] { return now() >= until || stop(); };
    Found found = search(task, log, budget, files);
    read_left -= std::min(read_left, found.read_bytes);
    text_left -= std::min(text_left, found.text_bytes);
    lines_left -= std::min(lines_left, found.hits);
    parts.add(std::move(found));
  }
  return parts.finish();
}

}  // namespace l4::lines
