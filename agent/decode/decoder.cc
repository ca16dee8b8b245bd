#include "agent/decode/decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/decode/clean.h"
#include "agent/decode/envelope.h"
#include "agent/decode/fold.h"
#include "agent/decode/json_block.h"
#include "agent/decode/line_framer.h"
#include "agent/decode/progress_bar.h"
#include "agent/decode/quick_checks.h"
#include "agent/decode/roster.h"
#include "agent/decode/seams.h"
#include "agent/decode/structured_line.h"
#include "agent/decode/survey.h"
#include "agent/decode/utf16.h"
#include "agent/decode/wording.h"
#include "agent/stamps/timestamp_reader.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kBarBytes = 130;

/// What became of a line, or of a piece of one; of several pieces the greatest counts.
/// `glued`: nothing yet; the line has a seam that nobody has looked for.
enum class Outcome : std::uint8_t { blank, no_text, told, glued };

/// A line that a container runtime split, gathered until its last part comes.
struct Partial {
  std::string content;
  std::vector<std::uint64_t> lines;
  wire::ByteRange bytes;
  std::optional<TimeMs> time;
  bool open = false;
};

}  // namespace

struct Decoder::State {
  State(Options given, Sink sink, WordingReader* shared)
      : options(given),
        framer(given.line_bytes_max),
        stamps({given.zone, given.year_hint, given.usual_time, !given.every_time}),
        own_wording(shared == nullptr ? std::make_unique<WordingReader>() : nullptr),
        wording(shared == nullptr ? *own_wording : *shared),
        folder(given.fold_lines_max, [this, out = std::move(sink)](const Record& record) {
          ++stats.records;
          out(record);
        }) {}

  void feed(std::string_view chunk);
  void block(std::string_view bytes);
  void line(RawLine& raw);
  [[gnu::noinline]] void decode_bytes(RawLine& raw);
  bool may_hold_seam(std::string_view text, const RawLine& raw) const;
  [[gnu::noinline]] void read_pieces(std::string_view text, const RawLine& raw,
                                     const Envelope* envelope);
  void join_partials(const RawLine& raw, const Envelope& envelope);
  void end_partial(Stream stream);
  [[gnu::noinline]] Outcome pieces(std::string_view text, const RawLine& raw,
                                   std::span<const std::uint64_t> lines, const Envelope* envelope);
  Outcome content(std::string_view text, const RawLine& raw, std::span<const std::uint64_t> lines,
                  const Envelope* envelope);
  [[gnu::always_inline]] Outcome message(std::string_view text, Prefixes& prefixes,
                                         const RawLine& raw, std::span<const std::uint64_t> lines,
                                         const Envelope* envelope);
  [[gnu::noinline]] Outcome message_behind_bar(std::string_view bar, std::string_view behind,
                                               Prefixes& prefixes, const RawLine& raw,
                                               std::span<const std::uint64_t> lines,
                                               const Envelope* envelope);
  void settle(Outcome outcome, std::size_t lines, std::uint64_t bytes);
  JsonBlock* block_of(std::uint64_t voice);
  [[gnu::noinline]] bool join_object(std::string_view given, std::string_view text, bool is_text,
                                     std::uint64_t voice, const RawLine& raw,
                                     std::span<const std::uint64_t> lines,
                                     const Envelope* envelope);
  bool is_record(const JsonBlock& block);
  void end_object(JsonBlock& block, bool complete);
  std::string_view cut_bars(std::string_view text, const RawLine& raw, Record& record,
                            Prefixes& prefixes);
  bool is_own(std::string_view bar, const Prefixes& prefixes) const;
  bool parse_stamp(std::string_view& text, Message& message, Prefixes& prefixes,
                   bool may_speak = true);
  bool open_fields(std::string_view& text, Message& message, Prefixes& prefixes);
  std::string_view cut_stamp(std::string_view text, const stamps::Stamp& stamp);

  Options options;
  Stats stats;
  LineFramer framer;
  Survey survey;
  stamps::TimestampReader stamps;
  std::unique_ptr<WordingReader> own_wording;  // null if the wording is shared
  WordingReader& wording;
  Folder folder;
  std::string pending;  // the block that is not full yet
  StructuredLine fields;
  std::string envelope_scratch, clean_scratch, fields_scratch;
  std::array<std::string, 2> cut_scratch;
  std::size_t cut_turn = 0;
  std::array<Partial, 3> partials;
  std::array<JsonBlock, 4> objects;
  std::size_t open_objects = 0;
  bool taking_back = false;  // the lines of an object are decoded again
  std::vector<std::size_t> seams;
  std::string wide_scratch;
  Outcome told = Outcome::blank;  // the pieces of the line so far
  std::uint64_t piece_count = 0, line_from = 0;
  bool behind_seam = false;  // the line was counted with its first piece
  bool searched = false;     // for seams
  bool glued = false;        // the bars of the line show a seam
  PrefixTrust trust;
  Roster roster;
};

void Decoder::State::feed(std::string_view chunk) {
  stats.bytes += chunk.size();
  while (!chunk.empty()) {
    if (pending.empty() && chunk.size() >= kBlockBytes) {
      block(chunk.substr(0, kBlockBytes));
      chunk.remove_prefix(kBlockBytes);
      continue;
    }
    const std::size_t n = std::min(chunk.size(), kBlockBytes - pending.size());
    pending.append(chunk.substr(0, n));
    chunk.remove_prefix(n);
    if (pending.size() == kBlockBytes) {
      block(pending);
      pending.clear();
    }
  }
}

void Decoder::State::block(std::string_view bytes) {
  survey.observe(bytes);
  trust = survey.trust();
  framer.give(bytes);
  RawLine raw;
  while (framer.next(raw)) line(raw);
}

void Decoder::State::line(RawLine& raw) {
  if (raw.first) {
    ++stats.lines;
    told = Outcome::blank;
    piece_count = 0;
    line_from = raw.bytes.from;
  }
  stats.updates += raw.updates;
  if (raw.cut) ++stats.cut_lines;
  stats.cut_bytes += raw.cut_bytes;
  if (!raw.plain) decode_bytes(raw);
  std::optional<Envelope> envelope;
  if (may_be_wrapped(raw.head)) envelope = open_envelope(raw.head, envelope_scratch);
  const Envelope* const wrapped = envelope ? &*envelope : nullptr;
  const bool whole = raw.first && !raw.more;
  if (wrapped != nullptr && whole &&
      (wrapped->partial || partials[static_cast<std::size_t>(wrapped->stream)].open))
    return join_partials(raw, *wrapped);
  const bool inside = wrapped != nullptr && raw.updates == 0;
  const std::string_view text = inside ? wrapped->content : raw.last;
  if (raw.seams) raw.seams = may_hold_seam(text, raw);
  if (whole && !raw.seams && !may_end_glued(text)) {
    behind_seam = searched = false;
    const Outcome outcome = content(text, raw, {&raw.number, 1}, wrapped);
    if (outcome == Outcome::blank) folder.note_blank(raw.number);
    if (outcome != Outcome::glued) return settle(outcome, 1, raw.bytes.to - raw.bytes.from);
  }
  read_pieces(text, raw, wrapped);
}

/// False if no colon that is marked in the text shows a seam, as most do not.
bool Decoder::State::may_hold_seam(std::string_view text, const RawLine& raw) const {
  const bool placed = text.data() >= raw.last.data() &&
                      text.data() <= raw.last.data() + raw.last.size() &&
                      raw.last.data() != wide_scratch.data();
  return !placed || framer.may_hold_seam(raw, text);
}

/// Decodes UTF-16, and cuts what is no character at the begin of a file.
void Decoder::State::decode_bytes(RawLine& raw) {
  if (!raw.head.empty() && (raw.head[0] & 0x80) != 0) cut_front(raw);
  if (raw.last.find('\0') == raw.last.npos || !decode_utf16_line(raw.last, wide_scratch)) return;
  raw.head = raw.last = wide_scratch;
  raw.seams = true;
  ++stats.wide_lines;
}

/// A line, or a piece of one, that may hold the texts of several writers.
void Decoder::State::read_pieces(std::string_view text, const RawLine& raw,
                                 const Envelope* envelope) {
  told = std::max(told, pieces(text, raw, {&raw.number, 1}, envelope));
  if (raw.more) return;
  settle(told, 1, raw.bytes.to - line_from);
  if (piece_count < 2) return;
  ++stats.glued_lines;
  stats.further_pieces += piece_count - 1;
}

/// Counts lines that gave no record.
void Decoder::State::settle(Outcome outcome, std::size_t lines, std::uint64_t bytes) {
  if (outcome == Outcome::blank) stats.blank_lines += lines;
  if (outcome != Outcome::no_text) return;
  stats.lines_not_text += lines;
  stats.bytes_not_text += bytes;
}

/// Gives each piece of a line to content(), if several writers have written it.
Outcome Decoder::State::pieces(std::string_view text, const RawLine& raw,
                               std::span<const std::uint64_t> lines, const Envelope* envelope) {
  behind_seam = piece_count++ > 0;
  searched = true;
  seams.clear();
  find_seams(text, seams);
  if (seams.empty()) return content(text, raw, lines, envelope);
  piece_count += seams.size();
  const bool placed = text.data() >= raw.last.data() &&
                      text.data() + text.size() <= raw.last.data() + raw.last.size() &&
                      text.data() != wide_scratch.data();
  const std::uint64_t base =
      placed ? raw.last_from + static_cast<std::uint64_t>(text.data() - raw.last.data()) : 0;
  Outcome outcome = Outcome::blank;
  RawLine piece = raw;
  piece.seams = false;
  piece.more = true;
  for (std::size_t i = 0; i <= seams.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : seams[i - 1];
    const std::size_t to = i == seams.size() ? text.size() : seams[i];
    if (placed) {
      if (i > 0) piece.bytes.from = base + from;
      piece.bytes.to = i == seams.size() ? raw.bytes.to : base + to;
    }
    outcome = std::max(outcome, content(text.substr(from, to - from), piece, lines, envelope));
    piece.updates = 0;
    piece.bar = {};
    behind_seam = true;
  }
  return outcome;
}

void Decoder::State::join_partials(const RawLine& raw, const Envelope& envelope) {
  Partial& partial = partials[static_cast<std::size_t>(envelope.stream)];
  if (!partial.open) {
    partial.content.clear();
    partial.lines.clear();
    partial.bytes.from = raw.bytes.from;
    partial.time = envelope.time;
    partial.open = true;
  }
  const std::string_view text = raw.updates > 0 ? raw.last : envelope.content;
  const std::size_t room =
      options.line_bytes_max - std::min(options.line_bytes_max, partial.content.size());
  if (text.size() > room) ++stats.cut_lines;
  stats.cut_bytes += text.size() - std::min(text.size(), room);
  partial.content.append(text.substr(0, room));
  partial.lines.push_back(raw.number);
  partial.bytes.to = raw.bytes.to;
  if (!envelope.partial || partial.lines.size() >= options.fold_lines_max)
    end_partial(envelope.stream);
}

void Decoder::State::end_partial(Stream stream) {
  Partial& partial = partials[static_cast<std::size_t>(stream)];
  if (!partial.open) return;
  partial.open = false;
  RawLine whole;
  whole.bytes = partial.bytes;
  Envelope joined;
  joined.time = partial.time;
  joined.stream = stream;
  piece_count = 0;
  settle(pieces(partial.content, whole, partial.lines, &joined), partial.lines.size(),
         whole.bytes.to - whole.bytes.from);
}

/// The open object of the voice; null if there is none.
JsonBlock* Decoder::State::block_of(std::uint64_t voice) {
  for (JsonBlock& block : objects)
    if (block.is_open() && block.voice() == voice) return &block;
  return nullptr;
}

/// Gathers the lines of an object that is printed over several lines. False: the line is none of
/// these; the lines before it were then taken back, if it should have been one.
bool Decoder::State::join_object(std::string_view given, std::string_view text, bool is_text,
                                 std::uint64_t voice, const RawLine& raw,
                                 std::span<const std::uint64_t> lines, const Envelope* envelope) {
  JsonBlock* block = open_objects > 0 ? block_of(voice) : nullptr;
  if (block != nullptr && (!is_text || !JsonBlock::continues(text))) {
    end_object(*block, false);
    return false;
  }
  if (block == nullptr) {
    if (!is_text || !JsonBlock::begins(text)) return false;
    const auto spare = std::ranges::find_if_not(objects, &JsonBlock::is_open);
    if (spare == objects.end()) return false;
    block = &*spare;
    block->open(voice);
    ++open_objects;
  }
  const JsonBlock::State state = block->add(given, text, raw, lines, envelope);
  const bool full =
      block->size() > options.line_bytes_max || block->numbers().size() >= options.fold_lines_max;
  if (state != JsonBlock::State::open || full)
    end_object(*block, state == JsonBlock::State::complete);
  return true;
}

/// True if a logger wrote the object, or if it is short.
bool Decoder::State::is_record(const JsonBlock& block) {
  constexpr std::size_t kShortBytes = 2048, kShortLines = 48;
  if (block.size() > options.line_bytes_max || block.numbers().size() > options.fold_lines_max ||
      !fields.read_json(block.object()))
    return false;
  if (!fields.text().empty() && (fields.stamp || fields.level != Level::unknown)) return true;
  return block.joined().size() <= kShortBytes && block.lines().size() <= kShortLines;
}

/// Gives the object as one line if it is a record, else its lines.
void Decoder::State::end_object(JsonBlock& block, bool complete) {
  --open_objects;
  taking_back = true;
  const bool further = std::exchange(behind_seam, false), found = std::exchange(searched, true);
  const auto envelope_of = [](const JsonBlock::Line& line) {
    return line.envelope ? &*line.envelope : nullptr;
  };
  Outcome outcome = Outcome::blank;
  if (complete && is_record(block)) {
    RawLine whole;
    whole.bytes = block.bytes();
    outcome = content(block.joined(), whole, block.numbers(), envelope_of(block.lines().front()));
    if (outcome == Outcome::told) stats.joined_lines += block.numbers().size();
  }
  if (outcome != Outcome::told)
    for (const JsonBlock::Line& line : block.lines()) {
      outcome = content(block.text_of(line), line.raw, block.numbers_of(line), envelope_of(line));
      if (line.raw.first && !line.raw.more)  // the line counted as told
        settle(outcome, line.lines, line.raw.bytes.to - line.raw.bytes.from);
    }
  behind_seam = further;
  searched = found;
  taking_back = false;
  block.close();
}

std::string_view Decoder::State::cut_stamp(std::string_view text, const stamps::Stamp& stamp) {
  if (stamp.cut_to == stamp.cut_from) return text;
  if (text::all_blank(text.substr(0, stamp.cut_from))) return text.substr(stamp.cut_to);
  cut_turn ^= 1;  // `text` may stand in the buffer that the previous stamp was cut into
  std::string& rest = cut_scratch[cut_turn];
  rest.assign(text.substr(0, stamp.cut_from)).append(text.substr(stamp.cut_to));
  return rest;
}

/// True if the bar, over which a text with these prefixes was printed, has them too.
bool Decoder::State::is_own(std::string_view bar, const Prefixes& prefixes) const {
  if (prefixes.key == 0) return true;
  Prefixes own;
  parse_prefixes(bar, trust, own);
  return own.key == prefixes.key;
}

/// Reads the counts of the last progress bar, and returns the text behind it, which has its own
/// prefixes and stamp. Without such text the bar itself is the text.
std::string_view Decoder::State::cut_bars(std::string_view text, const RawLine& raw, Record& record,
                                          Prefixes& prefixes) {
  const BarLine line = read_bar_line(text, raw.bar);
  record.updates += line.redrawn;
  glued = line.text_between || (line.behind && begins_with_tag(line.text));
  text = line.text;
  if (!line.bar.empty() && !line.behind && !is_own(line.bar, prefixes)) return text;
  record.progress = line.done;
  record.progress_total = line.total;
  if (raw.updates > 0) record.drawn = time_drawn(raw.head, line.bar.empty() ? text : line.bar);
  record.bar = line.bar;
  if (line.behind) parse_prefixes(text, trust, prefixes);
  return text;
}

/// Removes the stamp from `text` and the prefixes behind it. True if there was a stamp.
/// `may_speak`: a clock may stand inside the text.
bool Decoder::State::parse_stamp(std::string_view& text, Message& message, Prefixes& prefixes,
                                 bool may_speak) {
  const auto stamp = stamps.read(text, may_speak);
  if (!stamp) return false;
  if (stamp->time) message.record.time = stamp->time;
  if (stamp->level != Level::unknown) message.record.level = stamp->level;
  message.stamped = true;
  message.origin = stamp->origin;
  text = cut_stamp(text, *stamp);
  if (!stamp->host.empty() && prefixes.speaker.host.empty()) prefixes.speaker.host = stamp->host;
  message.program = !stamp->host.empty();
  std::string_view rest = text::trim_left(text);
  const std::size_t size = rest.size();
  parse_prefixes(rest, trust, prefixes);
  if (rest.size() < size || parse_host_and_rank(rest, prefixes)) text = rest;
  return true;
}

/// Opens JSON and logfmt: the message, if there is one, becomes the text, with its own prefixes.
bool Decoder::State::open_fields(std::string_view& text, Message& message, Prefixes& prefixes) {
  const std::string_view object = json_of(text, message.stamped);
  message.logfmt = object.empty() && may_be_logfmt(text);
  if (!message.logfmt && object.empty()) return false;
  if (!(message.logfmt ? fields.read_logfmt(text::trim(text)) : fields.read_json(object)))
    return false;
  message.fields = true;
  message.stamped = true;
  message.record.level = fields.level;
  if (!prefixes.speaker.rank) prefixes.speaker.rank = fields.rank;
  if (!prefixes.speaker.local_rank) prefixes.speaker.local_rank = fields.local_rank;
  if (prefixes.speaker.host.empty()) prefixes.speaker.host = fields.host();
  if (fields.text().empty()) return false;
  Dirt ignored;
  text = clean(fields.text(), fields_scratch, ignored);
  parse_prefixes(text, trust, prefixes);
  return true;
}

inline Outcome Decoder::State::message(std::string_view text, Prefixes& prefixes,
                                       const RawLine& raw, std::span<const std::uint64_t> lines,
                                       const Envelope* envelope) {
  Message message;
  Record& record = message.record;
  if (may_hold_fields(text)) open_fields(text, message, prefixes);
  const bool percent = raw.percent || envelope != nullptr || message.fields;
  if ((percent && std::memchr(text.data(), '%', std::min(text.size(), kBarBytes)) != nullptr) ||
      !raw.bar.empty())
    text = cut_bars(text, raw, record, prefixes);
  if (std::exchange(glued, false) && !searched) return Outcome::glued;
  const std::string_view whole = text;
  const bool may_speak = raw.clocks || !raw.plain || envelope != nullptr || message.fields;
  if (parse_stamp(text, message, prefixes, may_speak)) {
    const bool opened =
        !message.fields && may_hold_fields(text) && open_fields(text, message, prefixes);
    if (opened || may_be_stamp(text)) parse_stamp(text, message, prefixes);
  }
  if (!record.time && message.fields && fields.stamp)
    record.time =
        stamps.resolve_field(*fields.stamp, message.logfmt ? stamps::TimestampReader::Fields::logfmt
                                                           : stamps::TimestampReader::Fields::json);
  if (text::all_blank(text))
    text = whole;  // a line with nothing but a date (nvidia-smi, `date`) keeps it
  if (!record.time && envelope != nullptr) record.time = envelope->time;
  if (text::all_blank(text)) return Outcome::blank;
  if (prefixes.ray) {
    text = without_repeat_note(text);
    roster.note(text);
    if (!prefixes.speaker.rank && prefixes.process >= 0)
      prefixes.speaker.rank = roster.rank_of(prefixes.process, prefixes.speaker.host);
  }
  const std::optional<Rank> named = wording.read(text, message);
  if (record.level >= Level::error && !searched && report_seam(whole) != whole.npos)
    return Outcome::glued;
  if (record.level >= Level::error && !record.progress)  // a bar without a total and a percentage
    if (const auto bar = find_bar(text); bar && bar->done && bar->behind.size() > 1)
      return message_behind_bar(text, bar->behind, prefixes, raw, lines, envelope);
  if (!prefixes.speaker.rank) prefixes.speaker.rank = named;
  record.speaker = prefixes.speaker;
  record.lines = lines;
  record.bytes = raw.bytes;
  record.updates += raw.updates;
  message.voice = prefixes.key;
  message.outer_voice = prefixes.outer;
  message.excepthook = prefixes.excepthook;
  if (envelope != nullptr) {
    const auto stream = static_cast<std::uint64_t>(envelope->stream) << 62;
    message.voice ^= stream;
    message.outer_voice ^= stream;
  }
  if (record.time) {
    if (!behind_seam) stats.lines_with_time += lines.size();
    record.clock_returned = stats.clock.note(*record.time, lines.front());
  }
  if (record.speaker.rank && !behind_seam) stats.lines_with_rank += lines.size();
  folder.add(message);
  return Outcome::told;
}

Outcome Decoder::State::content(std::string_view text, const RawLine& raw,
                                std::span<const std::uint64_t> lines, const Envelope* envelope) {
  Dirt dirt;
  const std::string_view given = text;
  if (!raw.plain || envelope != nullptr) text = clean(text, clean_scratch, dirt);
  const auto counted = [&](Outcome outcome) {
    if (taking_back || outcome == Outcome::glued) return outcome;  // the text comes once more
    stats.invalid_utf8 += dirt.invalid_utf8;
    stats.nul_bytes += dirt.nul_bytes;
    stats.binary_bytes += dirt.invalid_utf8 + dirt.nul_bytes + dirt.control_bytes;
    return outcome;
  };
  if (is_no_text(given.size(), dirt)) return counted(Outcome::no_text);

  Prefixes prefixes;
  parse_prefixes(text, trust, prefixes);
  if ((open_objects > 0 || may_begin_object(text)) && !taking_back && options.fold_lines_max > 1 &&
      !text::all_blank(text)) {
    const auto stream =
        envelope == nullptr ? 0 : static_cast<std::uint64_t>(envelope->stream) << 62;
    const std::size_t open = open_objects;
    if (join_object(given, text, dirt.control_bytes == 0, prefixes.key ^ stream, raw, lines,
                    envelope))
      return counted(Outcome::told);
    if (open_objects < open) {  // the buffers were used again
      Dirt ignored;
      text = !raw.plain || envelope != nullptr ? clean(given, clean_scratch, ignored) : given;
      prefixes = {};
      parse_prefixes(text, trust, prefixes);
    }
  }
  return counted(message(text, prefixes, raw, lines, envelope));
}

/// `behind`: the text behind the bar, the end of `bar`; the bar is read from what stands before it.
Outcome Decoder::State::message_behind_bar(std::string_view bar, std::string_view behind,
                                           Prefixes& prefixes, const RawLine& raw,
                                           std::span<const std::uint64_t> lines,
                                           const Envelope* envelope) {
  RawLine line = raw;
  line.bar = bar.substr(0, static_cast<std::size_t>(behind.data() - bar.data()));
  return message(behind, prefixes, line, lines, envelope);
}

Decoder::Decoder(Options options, Sink sink, WordingReader* wording)
    : state_(std::make_unique<State>(options, std::move(sink), wording)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::start_at(std::uint64_t line, std::uint64_t offset) {
  state_->framer.start_at(line, offset);
}

void Decoder::learn_prefixes(std::string_view text) {
  state_->survey.observe(text);
}

void Decoder::feed(std::string_view chunk) {
  state_->feed(chunk);
}

void Decoder::flush_block() {
  state_->block(state_->pending);
  state_->pending.clear();
}

void Decoder::release_held() {
  for (const Stream stream : {Stream::none, Stream::out, Stream::err}) state_->end_partial(stream);
  for (JsonBlock& block : state_->objects)
    if (block.is_open()) state_->end_object(block, false);
  state_->folder.finish();
}

void Decoder::emit_unfinished() {
  flush_block();
  RawLine raw;
  while (state_->framer.emit_unfinished(raw)) state_->line(raw);
}

Progress Decoder::progress() const {
  const LinePosition front{state_->framer.offset(), state_->framer.lines()};
  LinePosition given = front;
  const auto hold = [&](wire::ByteRange bytes, std::uint64_t line) {
    if (bytes.from < given.bytes) given = {bytes.from, line - 1};
  };
  for (const Partial& partial : state_->partials)
    if (partial.open) hold(partial.bytes, partial.lines.front());
  for (const JsonBlock& block : state_->objects)
    if (block.is_open()) hold(block.bytes(), block.numbers().front());
  if (const Record* waits = state_->folder.first_open()) hold(waits->bytes, waits->lines.front());
  return {given, front, state_->framer.unfinished(), state_->framer.unfinished_bar()};
}

void Decoder::end_part() {
  flush_block();
  RawLine raw;
  while (state_->framer.finish(raw)) state_->line(raw);
}

void Decoder::finish() {
  end_part();
  release_held();
}

const Stats& Decoder::stats() const {
  return state_->stats;
}

std::string_view Decoder::time_format() const {
  return state_->stamps.format();
}

}  // namespace l4::decode
