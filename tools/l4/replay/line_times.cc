#include "tools/l4/replay/line_times.h"

#include "agent/decode/decoder.h"
#include "common/base/earliest.h"

namespace l4::replay {

LineTimes read_times(std::string_view text, std::optional<TimeMs> hint) {
  LineTimes found;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    from = end == text.npos ? text.size() : end + 1;
    found.lines.push_back({from, std::nullopt});
  }
  decode::Options options;
  options.fold_lines_max = 1;
  options.year_hint = hint;
  decode::Decoder decoder(options, [&](const decode::Record& record) {
    for (const std::uint64_t line : record.lines)
      if (line <= found.lines.size()) found.lines[line - 1].time = record.time;
  });
  decoder.feed(text);
  decoder.finish();
  found.format = decoder.time_format();
  return found;
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
