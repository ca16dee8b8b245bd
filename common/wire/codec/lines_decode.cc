#include <capnp/message.h>
#include <capnp/serialize.h>

#include <limits>
#include <string>
#include <string_view>

#include "common/wire/codec/lines_codec.h"
#include "common/wire/codec/words.h"
#include "common/wire/greeting.h"
#include "common/wire/port.h"
#include "schemas/lines.capnp.h"

namespace l4::wire {
namespace {

constexpr int kLinesNestingMax = 6;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// Reads one body. The first broken rule is kept; reading goes on harmlessly, since the sizes are
/// bounded by `words_left_`.
class LinesDecoder {
 public:
  explicit LinesDecoder(std::size_t words) : words_left_(words) {}

  LinesQuestion question(schema::LinesQuestion::Reader in);
  LinesAnswer answer(schema::LinesAnswer::Reader in);
  const std::optional<Error>& error() const { return error_; }

 private:
  void require(bool holds, std::string_view where, std::string_view reason) {
    if (!holds && !error_) error_ = Error{std::string(where), std::string(reason)};
  }

  std::optional<TimeMs> time(std::string_view where, std::int64_t ms) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    if (ms == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    require(ms <= kMost && ms >= -kMost, where, "not a time");
    return TimeMs{Millis{error_ ? 0 : ms}};
  }

  std::optional<std::int32_t> number(std::string_view where, std::int32_t value) {
    require(value >= -1, where, "less than -1");
    return value < 0 ? std::nullopt : std::optional(value);
  }
  std::optional<Rank> rank(std::string_view where, std::int32_t value) {
    const auto found = number(where, value);
    return found ? std::optional(Rank{*found}) : std::nullopt;
  }

  /// Reads both Text and Data of capnp.
  template <class Reader>
  std::string text(std::string_view where, Reader in, std::size_t bytes_max) {
    require(in.size() <= bytes_max, where, "text is too long");
    if (error_) return {};
    return {reinterpret_cast<const char*>(in.begin()), in.size()};
  }

  /// Every element except an id takes at least one word of an honest message.
  template <class List>
  capnp::uint size_of(std::string_view where, const List& list, std::size_t size_max) {
    return size_in(where, list.size(), list.size(), size_max);
  }
  capnp::uint size_of(std::string_view where, const capnp::List<std::uint32_t>::Reader& ids,
                      std::size_t size_max) {
    return size_in(where, ids.size(), words_of_ids(ids.size()), size_max);
  }
  capnp::uint size_in(std::string_view where, capnp::uint size, std::size_t words,
                      std::size_t size_max) {
    const bool fits = size <= size_max && words <= words_left_;
    require(fits, where, "more elements than there may be");
    if (fits) words_left_ -= words;
    return fits && !error_ ? size : 0;
  }

  LinesFile file(schema::LinesFile::Reader in);
  RawLine line(schema::RawLine::Reader in, std::size_t files);

  std::size_t words_left_;  ///< words of the message that are left for elements of lists
  std::optional<Error> error_;
};

LinesFile LinesDecoder::file(schema::LinesFile::Reader in) {
  LinesFile out;
  out.path = text("files.path", in.getPath(), kPathBytesMax);
  require(!out.path.empty(), "files.path", "is empty");
  out.everyone = in.getEveryone();
  out.hosts = in.getHosts();
  const auto speakers = in.getSpeakers();
  const capnp::uint size = size_of("files.speakers", speakers, kLinesSpeakersMax);
  out.speakers.reserve(size);
  for (capnp::uint i = 0; i < size; ++i)
    out.speakers.push_back({rank("files.speakers.rank", speakers[i].getRank()),
                            number("files.speakers.local_rank", speakers[i].getLocalRank()),
                            text("files.speakers.host", speakers[i].getHost(), kNameBytesMax)});
  out.counted = in.getCounted();
  out.last = time("files.last", in.getLast());
  return out;
}

LinesQuestion LinesDecoder::question(schema::LinesQuestion::Reader in) {
  LinesQuestion out;
  out.job = text("job", in.getJob(), kPathBytesMax);
  const auto templates = in.getTemplates();
  const capnp::uint ids = size_of("templates", templates, kLinesTemplatesMax);
  out.templates.reserve(ids);
  for (capnp::uint i = 0; i < ids; ++i) out.templates.emplace_back(templates[i]);
  const auto texts = in.getTexts();
  const capnp::uint wordings = size_of("texts", texts, kLinesTemplatesMax);
  for (capnp::uint i = 0; i < wordings && !error_; ++i)
    out.texts.push_back(text("texts", texts[i], kTemplateTextBytesMax));
  const auto files = in.getFiles();
  const capnp::uint logs = size_of("files", files, kLinesFilesMax);
  for (capnp::uint i = 0; i < logs && !error_; ++i) out.files.push_back(file(files[i]));
  out.around = time("around", in.getAround());
  out.context = in.getContext();
  require(out.context <= kLinesContextMax, "context", "more than 100");
  out.lines_max = in.getLinesMax();
  require(out.lines_max >= 1 && out.lines_max <= kLinesMax, "lines_max", "not from 1 to 10000");
  out.bytes_max = in.getBytesMax();
  out.timeout_ms = in.getTimeoutMs();
  return out;
}

RawLine LinesDecoder::line(schema::RawLine::Reader in, std::size_t files) {
  RawLine out;
  out.file = in.getFile();
  require(out.file < files, "lines.file", "names no file");
  out.asked = in.getAsked();
  require(out.asked < kLinesFilesMax, "lines.asked", "names no file");
  out.offset = in.getOffset();
  out.number = in.getNumber();
  out.time = time("lines.time", in.getTime());
  out.rank = rank("lines.rank", in.getRank());
  out.host = text("lines.host", in.getHost(), kNameBytesMax);
  out.text = text("lines.text", in.getText(), kLineTextBytesMax);
  out.hit = in.getHit();
  out.cut = in.getCut();
  return out;
}

LinesAnswer LinesDecoder::answer(schema::LinesAnswer::Reader in) {
  LinesAnswer out;
  const auto files = in.getFiles();
  const capnp::uint names = size_of("files", files, words_left_);
  for (capnp::uint i = 0; i < names && !error_; ++i)
    out.files.push_back(text("files", files[i], kPathBytesMax));
  const auto lines = in.getLines();
  const capnp::uint count = size_of("lines", lines, kLinesMax * (2 * kLinesContextMax + 1));
  for (capnp::uint i = 0; i < count && !error_; ++i)
    out.lines.push_back(line(lines[i], out.files.size()));
  const auto gaps = in.getGaps();
  const capnp::uint holes = size_of("gaps", gaps, kLinesGapsMax);
  for (capnp::uint i = 0; i < holes && !error_; ++i) {
    LinesGap gap;
    // A kind of a later version is still a gap.
    if (gaps[i].getKind() < kLinesGapKinds) gap.kind = static_cast<LinesGapKind>(gaps[i].getKind());
    if (gaps[i].getAsked() != kNobody) gap.asked = gaps[i].getAsked();
    gap.file = text("gaps.file", gaps[i].getFile(), kPathBytesMax);
    gap.text = text("gaps.text", gaps[i].getText(), kControlTextBytesMax);
    out.gaps.push_back(std::move(gap));
  }
  out.bytes_read = in.getBytesRead();
  out.redacted = in.getRedacted();
  return out;
}

/// `read(decoder, reader)` returns the value.
template <class Value, class Read>
Result<Value> decode_body(std::span<const std::byte> bytes, Read read) {
  if (bytes.size() > kWireMessageBytesMax)
    return std::unexpected(Error{"lines", "longer than 1 MiB"});
  if (bytes.size() < 2 * kWordBytes || bytes.size() % kWordBytes != 0)
    return std::unexpected(Error{"lines", "not whole words"});
  const Words words(bytes);
  LinesDecoder decoder(words.view().size());
  try {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words.view().size() + 64;  // an honest message is read once
    options.nestingLimit = kLinesNestingMax;
    capnp::FlatArrayMessageReader reader(words.view(), options);
    Value value = read(decoder, reader);
    if (decoder.error()) return std::unexpected(*decoder.error());
    return value;
  } catch (const kj::Exception& broken) {
    if (decoder.error()) return std::unexpected(*decoder.error());
    return std::unexpected(Error{"lines", broken.getDescription().cStr()});
  }
}

}  // namespace

Result<LinesQuestion> decode_lines_question(std::span<const std::byte> bytes) {
  return decode_body<LinesQuestion>(bytes, [](LinesDecoder& decoder, capnp::MessageReader& reader) {
    return decoder.question(reader.getRoot<schema::LinesQuestion>());
  });
}

Result<LinesAnswer> decode_lines_answer(std::span<const std::byte> bytes) {
  return decode_body<LinesAnswer>(bytes, [](LinesDecoder& decoder, capnp::MessageReader& reader) {
    return decoder.answer(reader.getRoot<schema::LinesAnswer>());
  });
}

}  // namespace l4::wire
