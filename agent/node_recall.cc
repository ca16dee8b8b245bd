#include <algorithm>
#include <map>
#include <unordered_map>

#include "agent/node_state.h"
#include "common/drain/finder.h"

namespace l4::agent {
namespace {

constexpr std::size_t kSpareSpans = 2;           // read where few lines are wanted
constexpr std::uint64_t kStepBytes = 64 * 1024;  // then whether all was found is asked again

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

struct WantedSpan {
  recall::Span span;
  std::size_t wanted;  ///< place in the request
};

/// Spans that touch, and all that is wanted of them.
struct Stretch {
  wire::ByteRange bytes;
  std::uint64_t first_line = 0;
  std::optional<TimeMs> newest;  ///< of the first span
  std::vector<std::size_t> wanted;
};

/// One request: each stretch of the files is read once, whoever wants it.
class Search {
 public:
  Search(const NodeAgent::State& state, const recall::Request& request)
      : state_(&state),
        request_(&request),
        finder_(state.pipeline.miner()),
        found_(request.wanted.size(), 0) {
    const recall::SegmentIndex::Reader index(state.index);
    for (std::size_t i = 0; i < request.wanted.size(); ++i) {
      const LocalTemplateId id = request.wanted[i].id;
      wanted_of_[state.pipeline.miner().canonical(id)].push_back(i);
      choose_spans(i, index.spans(id));
    }
  }

  std::vector<recall::Hit> run() {
    for (auto& [file, spans] : spans_of_file_) {
      std::ranges::sort(spans, {}, [](const WantedSpan& each) { return each.span.bytes.from; });
      search(state_->files[file], spans);
    }
    return std::move(hits_);
  }

 private:
  static bool asks_source(const recall::Wanted& wanted, SourceId source) {
    return wanted.sources.empty() || std::ranges::binary_search(wanted.sources, source);
  }
  bool has_all(std::size_t wanted) const {
    return request_->lines_per_template_max > 0 &&
           found_[wanted] >= request_->lines_per_template_max;
  }

  void choose_spans(std::size_t i, const std::vector<recall::Span>& known) {
    const recall::Wanted& wanted = request_->wanted[i];
    const std::size_t lines_max = request_->lines_per_template_max;
    std::size_t spans = 0;
    for (const recall::Span& span : known) {
      if (!asks_source(wanted, span.source)) continue;
      if (wanted.from && span.end && *span.end < *wanted.from) continue;
      spans_of_file_[state_->pipeline.log_of(span.source).number.value()].push_back({span, i});
      // A span holds its template at least once; its line may be older than what is wanted.
      if (lines_max > 0 && ++spans == lines_max + kSpareSpans) break;
    }
  }

  void take(const OpenFile& open, const pipeline::Log& log, const decode::Record& record) {
    const auto id = finder_.find(record.text, record.outline);
    if (!id) return;
    const auto of_template = wanted_of_.find(state_->pipeline.miner().canonical(*id));
    if (of_template == wanted_of_.end()) return;
    const auto source = log.runs.source_at(log.speakers.lookup(record.speaker), record.bytes.from);
    if (!source) return;
    for (const std::size_t i : of_template->second) {
      const recall::Wanted& wanted = request_->wanted[i];
      if (has_all(i) || !asks_source(wanted, *source)) continue;
      if (wanted.from && record.time && *record.time < *wanted.from) continue;
      ++found_[i];
      append_hits(hits_, {of_template->first, *source, i, {}, {}, record.time, {}}, open.parts,
                  record, request_->text_bytes_max);
    }
  }

  /// The next stretch of `spans`, from `i` on; empty at their end.
  Stretch next_stretch(const std::vector<WantedSpan>& spans, std::size_t& i) const {
    Stretch stretch;
    for (; i < spans.size(); ++i) {
      const recall::Span& span = spans[i].span;
      if (has_all(spans[i].wanted)) continue;
      if (stretch.wanted.empty()) {
        stretch = {span.bytes, span.first_line, std::nullopt, {}};
        if (span.end) stretch.newest = *span.end;
      } else if (span.bytes.from > stretch.bytes.to) {
        break;
      }
      stretch.bytes.to = std::max(stretch.bytes.to, span.bytes.to);
      stretch.wanted.push_back(spans[i].wanted);
    }
    return stretch;
  }

  void search(const OpenFile& open, const std::vector<WantedSpan>& spans) {
    const pipeline::Log& log = *state_->pipeline.log(open.log);
    PartsReader reader(open.parts);
    for (std::size_t i = 0; i < spans.size();) {
      const Stretch stretch = next_stretch(spans, i);
      if (stretch.wanted.empty()) return;
      // Of a stamp without a date the day is that of the span, of one without a year the year.
      decode::Options decode_options = state_->options.decode;
      if (!decode_options.year_hint) decode_options.year_hint = stretch.newest;
      if (!decode_options.year_hint) decode_options.year_hint = open.parts.back().found.modified;
      decode::Decoder decoder(decode_options,
                              [&](const decode::Record& record) { take(open, log, record); });
      decoder.start_at(stretch.first_line, stretch.bytes.from);
      const auto done = [&] {
        return std::ranges::all_of(stretch.wanted,
                                   [&](std::size_t wanted) { return has_all(wanted); });
      };
      for (std::uint64_t at = stretch.bytes.from; at < stretch.bytes.to && !done();) {
        const std::uint64_t to = std::min(stretch.bytes.to, at + kStepBytes);
        reader.feed({at, to}, decoder);
        at = to;
      }
      decoder.finish();
    }
  }

  const NodeAgent::State* state_;
  const recall::Request* request_;
  drain::Finder finder_;
  std::unordered_map<LocalTemplateId, std::vector<std::size_t>> wanted_of_;
  std::map<std::size_t, std::vector<WantedSpan>> spans_of_file_;
  std::vector<std::size_t> found_;  // by place in the request
  std::vector<recall::Hit> hits_;
};

}  // namespace

std::vector<recall::Hit> NodeAgent::recall(const recall::Request& request) const {
  return Search(*state_, request).run();
}

}  // namespace l4::agent
