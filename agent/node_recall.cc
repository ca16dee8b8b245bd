#include <algorithm>
#include <map>

#include "agent/node_state.h"

namespace l4::agent {
namespace {

constexpr std::size_t kSpareSpans = 2;  // read where few lines are wanted

/// A hit for each physical file that a record has lines in: one, but for folds over a rotation.
void append_hits(std::vector<recall::Hit>& hits, const recall::Hit& like,
                 const std::vector<FilePart>& parts, const decode::Record& record,
                 std::size_t text_bytes_max) {
  for (auto line = record.lines.begin(); line != record.lines.end();) {
    const FilePart& part = part_of_line(parts, *line);
    recall::Hit& hit = hits.emplace_back(like);
    hit.file = part.name;
    hit.text = record.text.substr(0, text_bytes_max);
    for (; line != record.lines.end() && &part_of_line(parts, *line) == &part; ++line)
      hit.lines.push_back(*line - part.lines_before);
  }
}

}  // namespace

std::vector<recall::Hit> NodeAgent::recall(const recall::Request& request) const {
  struct Want {
    const recall::Wanted* wanted = nullptr;
    std::size_t hits = 0;
  };
  std::map<LocalTemplateId, Want> wants;
  std::map<std::size_t, std::vector<recall::Span>> spans_of_file;
  auto asks_source = [](const recall::Wanted& wanted, SourceId source) {
    return wanted.sources.empty() || std::ranges::binary_search(wanted.sources, source);
  };
  const std::size_t lines_max = request.lines_per_template_max;
  for (const recall::Wanted& wanted : request.wanted) {
    wants[state_->pipeline.miner().canonical(wanted.id)] = {&wanted, 0};
    std::size_t spans = 0;
    for (const recall::Span& span : state_->index.spans(wanted.id)) {
      if (!asks_source(wanted, span.source)) continue;
      if (wanted.from && span.end && *span.end < *wanted.from) continue;
      spans_of_file[state_->pipeline.log_of(span.source).number.value()].push_back(span);
      // A span holds its template at least once; its line may be older than what is wanted.
      if (lines_max > 0 && ++spans == lines_max + kSpareSpans) break;
    }
  }
  const auto has_all = [&] {
    return lines_max > 0 && std::ranges::all_of(wants, [&](const auto& want) {
             return want.second.hits >= lines_max;
           });
  };
  std::vector<recall::Hit> hits;
  for (auto& [file, spans] : spans_of_file) {
    std::ranges::sort(spans, {}, [](const recall::Span& span) { return span.bytes.from; });
    const OpenFile& open = state_->files[file];
    const pipeline::Log& log = *state_->pipeline.log(open.log);
    PartsReader reader(open.parts);
    decode::Options decode_options = state_->options.decode;
    auto on_record = [&](const decode::Record& record) {
      const auto id = state_->pipeline.miner().find(record.text);
      if (!id) return;
      const auto want = wants.find(state_->pipeline.miner().canonical(*id));
      if (want == wants.end()) return;
      const recall::Wanted& wanted = *want->second.wanted;
      const auto source =
          log.runs.source_at(log.speakers.lookup(record.speaker), record.bytes.from);
      if (!source || !asks_source(wanted, *source)) return;
      if (wanted.from && record.time && *record.time < *wanted.from) return;
      if (lines_max > 0 && want->second.hits++ >= lines_max) return;
      append_hits(hits, {want->first, *source, {}, {}, record.time, {}}, open.parts, record,
                  request.text_bytes_max);
    };
    for (std::size_t i = 0; i < spans.size() && !has_all();) {
      wire::ByteRange bytes = spans[i].bytes;
      const std::uint64_t first_line = spans[i].first_line;
      std::optional<TimeMs> newest;
      if (spans[i].end) newest = *spans[i].end;
      for (++i; i < spans.size() && spans[i].bytes.from <= bytes.to; ++i) {
        bytes.to = std::max(bytes.to, spans[i].bytes.to);
      }
      // Of a stamp without a date the day is that of the span, and of one without a year the year.
      decode_options.year_hint = state_->options.decode.year_hint;
      if (!decode_options.year_hint) decode_options.year_hint = newest;
      if (!decode_options.year_hint) decode_options.year_hint = open.file.modified;
      decode::Decoder decoder(decode_options, on_record);
      decoder.start_at(first_line, bytes.from);
      reader.feed(bytes, decoder);
      decoder.finish();
    }
  }
  return hits;
}

}  // namespace l4::agent
