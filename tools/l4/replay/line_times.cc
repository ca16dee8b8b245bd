#include "tools/l4/replay/line_times.h"

#include <utility>

#include "common/base/earliest.h"

namespace l4::replay {

namespace {

decode::Options one_by_one(std::optional<TimeMs> hint) {
  decode::Options options;
  options.fold_lines_max = 1;
  options.year_hint = hint;
  options.every_time = true;  // the schedule tells which are far from the job
  return options;
}

}  // namespace

TimesReader::TimesReader(std::optional<TimeMs> hint)
    : found_(std::make_unique<LineTimes>()),
      decoder_(one_by_one(hint), [found = found_.get()](const decode::Record& record) {
        for (const std::uint64_t line : record.lines)
          if (line <= found->lines.size()) {
            found->lines[line - 1].time = record.time;
            found->lines[line - 1].level = record.level;
          }
      }) {}

void TimesReader::feed(std::string_view part) {
  std::size_t from = 0;
  for (std::size_t end = part.find('\n'); end != part.npos; end = part.find('\n', from)) {
    from = end + 1;
    // A line that began in an earlier part stands in the list already.
    const std::uint64_t behind = fed_ + from;
    if (part_of_line_)
      found_->lines.back().end = behind;
    else
      found_->lines.push_back({behind});
    part_of_line_ = false;
  }
  fed_ += part.size();
  if (from < part.size()) {
    if (part_of_line_)
      found_->lines.back().end = fed_;
    else
      found_->lines.push_back({fed_});
    part_of_line_ = true;
  }
  decoder_.feed(part);
}

LineTimes TimesReader::finish() {
  decoder_.finish();
  found_->format = decoder_.time_format();
  return std::move(*found_);
}

LineTimes read_times(std::string_view text, std::optional<TimeMs> hint) {
  TimesReader reader{hint};
  reader.feed(text);
  return reader.finish();
}

std::optional<TimeMs> latest_full_time(std::string_view text) {
  constexpr std::size_t kFrontBytes = 256 * 1024;
  std::optional<TimeMs> latest;
  decode::Decoder decoder({.fold_lines_max = 1},
                          [&](const decode::Record& record) { keep_latest(latest, record.time); });
  decoder.feed(text.substr(0, kFrontBytes));
  decoder.finish();
  return latest;
}

}  // namespace l4::replay
