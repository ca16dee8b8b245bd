#include <capnp/message.h>
#include <capnp/serialize.h>

#include <array>
#include <limits>

#include "common/wire/codec/lines_codec.h"
#include "common/wire/codec/words.h"
#include "schemas/lines.capnp.h"

namespace l4::wire {
namespace {

std::int64_t ms(const std::optional<TimeMs>& time) {
  return time ? time->time_since_epoch().count() : std::numeric_limits<std::int64_t>::min();
}

std::int32_t number(const std::optional<Rank>& rank) {
  return rank ? rank->value() : -1;
}

capnp::uint size_of(const auto& list) {
  return static_cast<capnp::uint>(list.size());
}

void put(schema::LinesFile::Builder out, const LinesFile& file) {
  out.setPath(text_of(file.path));
  out.setEveryone(file.everyone);
  out.setHosts(file.hosts);
  out.setCounted(file.counted);
  out.setLast(ms(file.last));
  auto speakers = out.initSpeakers(size_of(file.speakers));
  for (capnp::uint i = 0; i < speakers.size(); ++i) {
    const LinesSpeaker& speaker = file.speakers[i];
    speakers[i].setRank(number(speaker.rank));
    speakers[i].setLocalRank(speaker.local_rank.value_or(-1));
    speakers[i].setHost(text_of(speaker.host));
  }
}

void put(schema::RawLine::Builder out, const RawLine& line) {
  out.setFile(line.file);
  out.setAsked(line.asked);
  out.setOffset(line.offset);
  out.setNumber(line.number);
  out.setTime(ms(line.time));
  out.setRank(number(line.rank));
  out.setHost(text_of(line.host));
  out.setText({reinterpret_cast<const kj::byte*>(line.text.data()), line.text.size()});
  out.setHit(line.hit);
  out.setCut(line.cut);
}

Bytes bytes_of(capnp::MessageBuilder& builder) {
  const auto segments = builder.getSegmentsForOutput();
  Bytes bytes(capnp::computeSerializedSizeInWords(segments) * kWordBytes);
  kj::ArrayOutputStream out({reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()});
  capnp::writeMessage(out, segments);
  return bytes;
}

}  // namespace

std::string_view to_string(LinesGapKind kind) {
  static constexpr std::array<std::string_view, kLinesGapKinds> kNames{
      "other",      "not_followed",  "none_left",   "older",      "fewer",      "no_time",
      "unreadable", "limit_lines",   "limit_bytes", "limit_read", "limit_time", "busy",
      "off",        "not_connected", "too_old",     "no_answer",  "left",       "limit_agents"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::size_t encoded_bytes(const RawLine& line) {
  constexpr std::size_t kStruct =
      schema::RawLine::_capnpPrivate::dataWordSize + schema::RawLine::_capnpPrivate::pointerCount;
  const auto words = [](std::size_t bytes) { return bytes / kWordBytes + 1; };
  return (kStruct + words(line.host.size()) + words(line.text.size())) * kWordBytes;
}

Bytes encode(const LinesQuestion& question) {
  capnp::MallocMessageBuilder builder;
  auto out = builder.initRoot<schema::LinesQuestion>();
  out.setJob(text_of(question.job));
  auto templates = out.initTemplates(size_of(question.templates));
  for (capnp::uint i = 0; i < templates.size(); ++i)
    templates.set(i, question.templates[i].value());
  auto texts = out.initTexts(size_of(question.texts));
  for (capnp::uint i = 0; i < texts.size(); ++i) texts.set(i, text_of(question.texts[i]));
  auto files = out.initFiles(size_of(question.files));
  for (capnp::uint i = 0; i < files.size(); ++i) put(files[i], question.files[i]);
  out.setAround(ms(question.around));
  out.setContext(question.context);
  out.setLinesMax(question.lines_max);
  out.setBytesMax(question.bytes_max);
  out.setTimeoutMs(question.timeout_ms);
  return bytes_of(builder);
}

Bytes encode(const LinesAnswer& answer) {
  capnp::MallocMessageBuilder builder;
  auto out = builder.initRoot<schema::LinesAnswer>();
  auto files = out.initFiles(size_of(answer.files));
  for (capnp::uint i = 0; i < files.size(); ++i) files.set(i, text_of(answer.files[i]));
  auto lines = out.initLines(size_of(answer.lines));
  for (capnp::uint i = 0; i < lines.size(); ++i) put(lines[i], answer.lines[i]);
  auto gaps = out.initGaps(size_of(answer.gaps));
  for (capnp::uint i = 0; i < gaps.size(); ++i) {
    const LinesGap& gap = answer.gaps[i];
    gaps[i].setKind(static_cast<std::uint8_t>(gap.kind));
    if (gap.asked) gaps[i].setAsked(*gap.asked);
    gaps[i].setFile(text_of(gap.file));
    gaps[i].setText(text_of(gap.text));
  }
  out.setBytesRead(answer.bytes_read);
  out.setRedacted(answer.redacted);
  return bytes_of(builder);
}

}  // namespace l4::wire
