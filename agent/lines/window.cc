#include "agent/lines/window.h"

#include <algorithm>

#include "common/drain/mask.h"

namespace l4::lines {
namespace {

std::vector<SeenLine> cut(const Stretch& stretch) {
  std::vector<SeenLine> lines;
  for (std::size_t at = 0; at < stretch.text.size();) {
    const std::size_t end = stretch.text.find('\n', at);
    if (end == std::string_view::npos && !stretch.at_end) break;
    const std::size_t to = std::min(end, stretch.text.size());
    SeenLine& line = lines.emplace_back();
    line.offset = stretch.offset + at;
    if (stretch.counted) line.number = stretch.lines + lines.size();
    line.raw = stretch.text.substr(at, to - at);
    if (line.raw.ends_with('\r')) line.raw.remove_suffix(1);
    at = to + 1;
  }
  return lines;
}

}  // namespace

Asked::Asked(const Task& task, const wire::LinesFile& file) : task_(&task), file_(&file) {
  for (const std::string& text : task.texts) rows_.push_back(drain::row_of_text(text));
}

bool Asked::is_wanted(const decode::Speaker& speaker) const {
  if (file_->everyone) return true;
  return std::ranges::any_of(file_->speakers, [&](const wire::LinesSpeaker& one) {
    if (file_->hosts && !one.host.empty() && !speaker.host.empty() && one.host != speaker.host)
      return false;
    return one.rank == speaker.rank && (one.rank || one.local_rank == speaker.local_rank);
  });
}

bool Asked::is_of_template(std::string_view message) const {
  const drain::CodeList& codes = task_->codes != nullptr ? *task_->codes : drain::default_codes();
  const drain::Row row = drain::masked_row(message, codes);
  return std::ranges::any_of(
      rows_, [&](const drain::Row& general) { return drain::covers(general, row); });
}

std::vector<SeenLine> decode_lines(const Stretch& stretch, const Asked& asked, Blot& blot,
                                   std::optional<TimeMs> year) {
  std::vector<SeenLine> lines = cut(stretch);
  if (lines.empty()) return lines;
  decode::Options options = asked.decode();
  if (!options.year_hint) options.year_hint = year;
  const auto line_of = [&](std::uint64_t number) -> SeenLine* {
    return number >= 1 && number <= lines.size() ? &lines[number - 1] : nullptr;
  };
  decode::Decoder decoder(options, [&](const decode::Record& record) {
    const bool wanted = asked.is_wanted(record.speaker);
    const std::string_view message = blot.message(record.text);
    const bool blotted = message.data() != record.text.data();
    const bool begins = record.bytes.from >= stretch.from && record.bytes.from < stretch.to;
    const bool hit = wanted && begins && (!asked.by_template() || asked.is_of_template(message));
    const bool one_holds = std::ranges::any_of(record.lines, [&](std::uint64_t number) {
      const SeenLine* line = line_of(number);
      return line != nullptr && line->raw.contains(record.text);
    });
    for (const std::uint64_t number : record.lines) {
      SeenLine* line = line_of(number);
      if (line == nullptr) continue;
      if (blotted && (!one_holds || line->raw.contains(record.text)))
        line->messages.emplace_back(record.text);
      if (line->hit || (line->record > 0 && !hit)) continue;  // other writers' text on the line
      line->time = record.time;
      line->rank = record.speaker.rank;
      line->host = record.speaker.host;
      line->record = record.bytes.from + 1;
      line->wanted = wanted;
      line->hit = hit;
    }
  });
  decoder.start_at(1, stretch.offset);
  const std::uint64_t end = lines.back().offset + lines.back().raw.size() + 1;
  decoder.feed(stretch.text.substr(0, end - stretch.offset));
  decoder.finish();
  for (SeenLine& line : lines) {
    if (line.record > 0) continue;  // otherwise the line is blank or no text
    line.wanted = asked.everyone();
    line.hit = line.wanted && !asked.by_template() && line.offset >= stretch.from &&
               line.offset < stretch.to;
  }
  return lines;
}

std::optional<FirstTime> first_time(std::string_view text, std::uint64_t offset,
                                    const decode::Options& options, std::optional<TimeMs> year) {
  decode::Options own = options;
  if (!own.year_hint) own.year_hint = year;
  std::optional<FirstTime> first;
  decode::Decoder decoder(own, [&](const decode::Record& record) {
    if (record.time && (!first || record.bytes.from < first->offset))
      first = {*record.time, record.bytes.from};
  });
  decoder.start_at(1, offset);
  decoder.feed(text);
  decoder.finish();
  return first;
}

}  // namespace l4::lines
