#include "agent/node_agent.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "agent/file_parts.h"
#include "agent/part_reading.h"
#include "agent/recall/segment_index.h"
#include "agent/time_hints.h"
#include "common/base/check.h"
#include "common/drain/finder.h"

namespace l4::agent {
namespace {

constexpr std::size_t kSpareSpans = 2;           // spans read beyond the wanted number of lines
constexpr std::uint64_t kStepBytes = 64 * 1024;  // read between two checks for completeness
constexpr std::uint64_t kNoCut = std::numeric_limits<std::uint64_t>::max();

}  // namespace

/// A file, the physical files it is made of, and its number in the pipeline.
struct OpenFile {
  std::vector<FilePart> parts;  ///< oldest first; the last has the log's name
  pipeline::LogNumber log;
};

/// The files of a NodeAgent, the pipeline that reads them, the index for recall.
struct NodeAgent::State : pipeline::Output {
  State(std::string name_, const segment::RulePackSet& packs, const Options& options_)
      : name(std::move(name_)), options(options_), pipeline("", packs, options_, *this) {}

  void read_file(OpenFile& open, std::span<char> chunk, std::atomic<std::uint64_t>& bytes_done,
                 const std::stop_token& stop);
  void batch(wire::Batch&& batch) override;
  void segment(const wire::Segment& segment, std::span<const wire::ByteRange> where) override {
    index.add(segment, where);
  }
  void forgotten(const std::vector<LocalTemplateId>& ids) override { index.forget(ids); }
  void sources_forgotten(const std::vector<SourceId>& sources) override { index.forget(sources); }

  std::string name;
  Options options;
  pipeline::JobPipeline pipeline;
  std::deque<OpenFile> files;  ///< by number in the pipeline
  recall::SegmentIndex index;
  wire::Sender* sender = nullptr;  ///< only while read_all() runs
  std::uint64_t sequence = 0;
};

NodeAgent::NodeAgent(std::string name, std::vector<discover::LogFile> files,
                     const segment::RulePackSet& packs, Options options,
                     std::optional<TimeMs> job_time)
    : state_(std::make_unique<State>(std::move(name), packs, options)) {
  const auto hints = time_hints(files, job_time);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<FilePart> parts = parts_of(files[i]);
    state_->files.push_back(
        {std::move(parts),
         state_->pipeline.open(std::move(files[i]), hints[i].year, hints[i].usual)});
  }
}

NodeAgent::~NodeAgent() = default;
NodeAgent::NodeAgent(NodeAgent&&) noexcept = default;

const std::string& NodeAgent::name() const {
  return state_->name;
}

void NodeAgent::read_all(wire::Sender& sender, std::atomic<std::uint64_t>& bytes_done,
                         const std::stop_token& stop) {
  state_->sender = &sender;
  const auto chunk = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  for (OpenFile& open : state_->files) {
    if (stop.stop_requested()) break;
    state_->read_file(open, {chunk.get(), kChunkBytes}, bytes_done, stop);
  }
  state_->pipeline.flush(Millis{0});
  state_->sender = nullptr;
}

void NodeAgent::freeze() {
  state_->pipeline.freeze();
  state_->index.freeze();
}

void NodeAgent::State::read_file(OpenFile& open, std::span<char> chunk,
                                 std::atomic<std::uint64_t>& bytes_done,
                                 const std::stop_token& stop) {
  std::vector<wire::Warning> warnings;
  const auto feed = [&](std::string_view bytes) { pipeline.feed(open.log, bytes); };
  PartReading reading{chunk, bytes_done, stop, warnings};
  for (FilePart& part : open.parts) {
    pipeline.begin_part(open.log, {part.name, {}, 0, 0, {}});
    const decode::LinePosition begin = pipeline.log(open.log)->decoder->progress().front;
    part.bytes.from = begin.bytes;
    part.lines_before = begin.lines;
    pipeline.set_known(open.log, {}, read_part(part, feed, reading));
    pipeline.end_part(open.log);
    part.bytes.to = pipeline.log(open.log)->decoder->progress().front.bytes;
  }
  for (wire::Warning& warning : warnings) pipeline.warn(std::move(warning));
  warnings.clear();
  pipeline.end(open.log);
  note_left_out(pipeline.log(open.log)->stats, options.decode, open.parts.back().name, warnings);
  for (wire::Warning& warning : warnings) pipeline.warn(std::move(warning));
}

void NodeAgent::State::batch(wire::Batch&& batch) {
  L4_CHECK(sender != nullptr, "agent {} ships batch {} outside read_all()", name, sequence);
  batch.agent = name;
  batch.sequence = sequence++;
  sender->send(std::move(batch));
}

std::vector<std::string> NodeAgent::frameworks() const {
  return {state_->pipeline.known_packs().begin(), state_->pipeline.known_packs().end()};
}

std::vector<FileFacts> NodeAgent::facts() const {
  std::vector<FileFacts> facts;
  for (const OpenFile& open : state_->files) {
    const pipeline::LogState& log = *state_->pipeline.log(open.log);
    FileFacts fact{log.file.name,
                   log.file.node,
                   std::string(log.time_format),
                   log.stats.bytes,
                   log.stats.lines,
                   log.stats.lines_with_time,
                   log.stats.lines_with_rank,
                   open.parts.size() - 1,
                   {},
                   {},
                   log.stats.glued_lines,
                   log.stats.further_pieces,
                   log.stats.joined_lines,
                   log.stats.wide_lines};
    std::set<Rank> ranks;
    for (std::size_t speaker = 0; speaker < log.speakers.size(); ++speaker)
      if (const auto rank = log.speakers.definition(speaker).rank) ranks.insert(*rank);
    fact.ranks.assign(ranks.begin(), ranks.end());
    fact.iteration_marker = log.marker_text;
    if (log.marker && fact.iteration_marker.empty())
      fact.iteration_marker = state_->pipeline.miner().at(*log.marker).text;
    facts.push_back(std::move(fact));
  }
  return facts;
}

namespace {

/// The message of the record, and the lines of a stack below it: they often tell more than the
/// first.
std::string text_of(const decode::Record& record, std::size_t bytes_max) {
  std::string text(record.text.substr(0, bytes_max));
  if (record.details.empty() || text.size() + 1 >= bytes_max) return text;
  text += '\n';
  text += record.details.substr(0, bytes_max - text.size());
  return text;
}

/// Appends a hit for each physical file with lines of the record: one file, except for a fold that
/// crosses a rotation.
void append_hits(std::vector<recall::Hit>& hits, const recall::Hit& like,
                 const std::vector<FilePart>& parts, const decode::Record& record,
                 std::size_t text_bytes_max) {
  for (auto line = record.lines.begin(); line != record.lines.end();) {
    const FilePart& part = part_of_line(parts, *line);
    recall::Hit& hit = hits.emplace_back(like);
    hit.file = part.name;
    hit.text = text_of(record, text_bytes_max);
    for (; line != record.lines.end() && &part_of_line(parts, *line) == &part; ++line)
      hit.lines.push_back(*line - part.lines_before);
  }
}

struct WantedSpan {
  recall::Span span;
  std::size_t wanted;  ///< index in Request::wanted
};

/// A span that is being read.
struct Open {
  const WantedSpan* what;
  std::uint64_t read_since_found = 0;
};

/// Answers one request; a range of a file that several wanted templates share is read once.
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
      // A span holds its template at least once, but that line may be too old.
      if (lines_max > 0 && ++spans == lines_max + kSpareSpans) break;
    }
  }

  void add(const OpenFile& open, const pipeline::LogState& log, const decode::Record& record) {
    if (record.bytes.to >= cut_) return;
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

  /// True if the span needs no further reading.
  bool is_done(const Open& open, std::uint64_t at) const {
    const auto& [what, read] = open;
    return what->span.bytes.to <= at || has_all(what->wanted) ||
           (request_->bytes_for_more > 0 && read >= request_->bytes_for_more);
  }

  decode::Options options_at(const OpenFile& file, const recall::Span& span) const {
    // Stamps without a date or a year take them from the span.
    decode::Options options = state_->options.decode;
    if (!options.year_hint && span.end) options.year_hint = *span.end;
    if (!options.year_hint) options.year_hint = file.parts.back().found.modified;
    options.usual_time = span.end;
    return options;
  }

  /// Reads `spans`, which are sorted by their begin. Bytes that are read for one span count for all
  /// spans that hold them; if no open span needs more, reading jumps to the next span.
  void search(const OpenFile& file, const std::vector<WantedSpan>& spans) {
    const pipeline::LogState& log = *state_->pipeline.log(file.log);
    PartsReader reader(file.parts);
    for (auto next = spans.begin(); next != spans.end();) {
      if (has_all(next->wanted)) {
        ++next;
        continue;
      }
      const recall::Span& first = next->span;
      decode::Decoder decoder(options_at(file, first),
                              [&](const decode::Record& record) { add(file, log, record); });
      decoder.start_at(first.first_line, first.bytes.from);
      std::vector<Open> open;
      std::uint64_t at = first.bytes.from;
      bool whole = true;
      while (true) {
        for (; next != spans.end() && next->span.bytes.from <= at; ++next) open.push_back({&*next});
        std::erase_if(open, [&](const Open& each) { return is_done(each, at); });
        if (open.empty()) break;
        std::uint64_t end = at;
        for (const Open& each : open) end = std::max(end, each.what->span.bytes.to);
        const std::uint64_t to = std::min(end, at + kStepBytes);
        whole = reader.feed({at, to}, decoder);
        if (!whole) break;
        for (Open& each : open)
          each.read_since_found += found_[each.what->wanted] > 0 ? to - at : 0;
        at = to;
        whole = at == end;
      }
      if (!whole) cut_ = at;
      decoder.finish();
      cut_ = kNoCut;
    }
  }

  const NodeAgent::State* state_;
  const recall::Request* request_;
  drain::Finder finder_;
  std::unordered_map<LocalTemplateId, std::vector<std::size_t>> wanted_of_;
  std::map<std::size_t, std::vector<WantedSpan>> spans_of_file_;
  std::vector<std::size_t> found_;  // by index in Request::wanted
  std::vector<recall::Hit> hits_;
  std::uint64_t cut_ = kNoCut;  // reading stopped here, perhaps within a record
};

}  // namespace

std::vector<recall::Hit> NodeAgent::recall(const recall::Request& request) const {
  return Search(*state_, request).run();
}

}  // namespace l4::agent
