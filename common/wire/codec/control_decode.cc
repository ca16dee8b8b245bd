#include <capnp/message.h>
#include <capnp/serialize.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ascii.h"
#include "common/wire/codec/control_codec.h"
#include "common/wire/codec/words.h"
#include "common/wire/port.h"
#include "schemas/control.capnp.h"

namespace l4::wire {
namespace {

constexpr int kControlNestingMax = 6;

/// Reads one message. The first broken rule is kept; reading goes on harmlessly, since the sizes
/// are bounded by `words_left_`.
class ControlDecoder {
 public:
  ControlDecoder(const Words& words, std::span<const std::byte> message)
      : words_(words), message_(message), words_left_(words.view().size()) {}

  Control message(schema::Envelope::Reader in);
  const std::optional<Error>& error() const { return error_; }

 private:
  void require(bool holds, std::string_view where, std::string_view reason) {
    if (!holds && !error_) error_ = Error{std::string(where), std::string(reason)};
  }

  /// Within the range in which sums and differences do not overflow.
  Millis span(std::string_view where, std::int64_t ms) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    require(ms <= kMost && ms >= -kMost, where, "not a time");
    return Millis{error_ ? 0 : ms};
  }
  TimeMs time(std::string_view where, std::int64_t ms) { return TimeMs{span(where, ms)}; }

  std::string text(std::string_view where, capnp::Text::Reader in, std::size_t bytes_max) {
    require(in.size() <= bytes_max, where, "text is too long");
    if (in.size() > bytes_max) return {};
    return {in.begin(), in.size()};
  }

  /// An element of a list takes at least this many words of an honest message.
  template <class List>
  capnp::uint size_of(std::string_view where, const List& list, std::size_t words_each,
                      std::size_t size_max) {
    return size_in(where, list.size(), list.size() * words_each, size_max);
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
    return fits ? size : 0;
  }

  /// The bytes in the original message, even if the message was copied for reading.
  std::span<const std::byte> body(capnp::Data::Reader in) {
    if (in.size() == 0) return {};
    return message_.subspan(words_.offset_of(in.begin()), in.size());
  }
  Bytes copy(capnp::Data::Reader in) {
    const auto bytes = body(in);
    return {bytes.begin(), bytes.end()};
  }

  Hello hello(schema::Hello::Reader in);
  Welcome welcome(schema::Welcome::Reader in);
  PositionPage page(schema::PositionPage::Reader in);
  Position position(schema::Position::Reader in);
  Heartbeat heartbeat(schema::Heartbeat::Reader in);
  HeartbeatReply reply(schema::HeartbeatReply::Reader in);
  Want want(schema::Want::Reader in);
  Refuse refuse(schema::Refuse::Reader in);

  const Words& words_;
  std::span<const std::byte> message_;
  std::size_t words_left_;  ///< words of the message that are left for elements of lists
  std::optional<Error> error_;
};

Hello ControlDecoder::hello(schema::Hello::Reader in) {
  Hello out;
  out.version_min = in.getVersionMin();
  out.version_max = in.getVersionMax();
  require(out.version_min <= out.version_max, "hello.version_min", "range ends before it begins");
  out.features = in.getFeatures();
  out.agent = text("hello.agent", in.getAgent(), kNameBytesMax);
  require(is_node_name(out.agent), "hello.agent", "not the name of a node");
  out.incarnation = in.getIncarnation();
  out.boot_id = text("hello.boot_id", in.getBootId(), kControlTextBytesMax);
  out.software = text("hello.software", in.getSoftware(), kControlTextBytesMax);
  out.batches_held = in.getBatchesHeld();
  out.bytes_held = in.getBytesHeld();
  out.files_held = in.getFilesHeld();
  return out;
}

Position ControlDecoder::position(schema::Position::Reader in) {
  Position out;
  out.file = {in.getKey(), in.getDevice(), in.getInode(), in.getFingerprint(),
              in.getFingerprintBytes()};
  out.path = text("positions.path", in.getPath(), kPathBytesMax);
  out.offset = in.getOffset();
  out.lines = in.getLines();
  return out;
}

PositionPage ControlDecoder::page(schema::PositionPage::Reader in) {
  PositionPage out;
  const auto list = in.getPositions();
  const capnp::uint size = size_of("positions", list, 1, words_left_);
  out.positions.reserve(size);
  for (capnp::uint i = 0; i < size && !error_; ++i) {
    out.positions.push_back(position(list[i]));
    require(i == 0 || out.positions[i - 1].file.key < out.positions[i].file.key, "positions",
            "keys do not ascend");
  }
  out.more = in.getMore();
  require(!out.more || !out.positions.empty(), "positions", "an empty page with more behind it");
  return out;
}

Welcome ControlDecoder::welcome(schema::Welcome::Reader in) {
  Welcome out;
  out.version = in.getVersion();
  out.features = in.getFeatures();
  out.incarnation = in.getIncarnation();
  out.software = text("welcome.software", in.getSoftware(), kControlTextBytesMax);
  out.window = in.getWindow();
  out.heartbeat_ms = in.getHeartbeatMs();
  out.message_bytes_max = in.getMessageBytesMax();
  out.last_sequence = in.getLastSequence();
  out.page = page(in.getPage());
  return out;
}

Heartbeat ControlDecoder::heartbeat(schema::Heartbeat::Reader in) {
  Heartbeat out;
  out.number = in.getNumber();
  out.wall = time("heartbeat.wall", in.getWall());
  out.batches_sent = in.getBatchesSent();
  out.offset_known = in.getOffsetKnown();
  out.offset = span("heartbeat.offset", in.getOffsetMs());
  out.delay = span("heartbeat.delay", in.getDelayMs());
  out.batches_held = in.getBatchesHeld();
  out.bytes_held = in.getBytesHeld();
  require(in.getShedding() <= static_cast<std::uint8_t>(Shedding::counts), "heartbeat.shedding",
          "unknown word of a closed list");
  out.shedding = static_cast<Shedding>(in.getShedding());
  const auto list = in.getReleased();
  const capnp::uint size = size_of("heartbeat.released", list, 1, kReleasedMax);
  out.released.reserve(size);
  for (capnp::uint i = 0; i < size; ++i) out.released.push_back(list[i]);
  const auto hints = in.getHints();
  const capnp::uint hints_size = size_of("heartbeat.hints", hints, 1, kHintsMax);
  for (capnp::uint i = 0; i < hints_size && !error_; ++i)
    out.hints.push_back(text("heartbeat.hints", hints[i], kHintBytesMax));
  return out;
}

HeartbeatReply ControlDecoder::reply(schema::HeartbeatReply::Reader in) {
  HeartbeatReply out;
  out.number = in.getNumber();
  out.received = time("heartbeat_reply.received", in.getReceived());
  out.replied = time("heartbeat_reply.replied", in.getReplied());
  out.batches_received = in.getBatchesReceived();
  out.batches_committed = in.getBatchesCommitted();
  out.window = in.getWindow();
  return out;
}

Want ControlDecoder::want(schema::Want::Reader in) {
  Want out;
  out.number = in.getNumber();
  const auto files = in.getFiles();
  const capnp::uint file_count = size_of("want.files", files, 1, words_left_);
  out.files.reserve(file_count);
  for (capnp::uint i = 0; i < file_count; ++i)
    out.files.push_back({files[i].getKey(), files[i].getOffset()});
  return out;
}

Refuse ControlDecoder::refuse(schema::Refuse::Reader in) {
  Refuse out;
  // A reason of a later version is still a refusal.
  out.reason = in.getReason() <= static_cast<std::uint8_t>(RefuseReason::stopping)
                   ? static_cast<RefuseReason>(in.getReason())
                   : RefuseReason::busy;
  out.text = text("refuse.text", in.getText(), kControlTextBytesMax);
  out.retry_after_ms = in.getRetryAfterMs();
  out.number = in.getNumber();
  return out;
}

Control ControlDecoder::message(schema::Envelope::Reader in) {
  using In = schema::Envelope;
  switch (in.which()) {
    case In::NOTHING:
      return UnknownControl{};
    case In::HELLO:
      return hello(in.getHello());
    case In::WELCOME:
      return welcome(in.getWelcome());
    case In::MORE_POSITIONS:
      return MorePositions{in.getMorePositions()};
    case In::POSITIONS:
      return page(in.getPositions());
    case In::HEARTBEAT:
      return heartbeat(in.getHeartbeat());
    case In::HEARTBEAT_REPLY:
      return reply(in.getHeartbeatReply());
    case In::BATCH:
      return BatchFrame{in.getBatch().getNumber(), body(in.getBatch().getBody())};
    case In::ACK:
      return Ack{in.getAck().getNumber(), in.getAck().getWindow()};
    case In::WANT:
      return want(in.getWant());
    case In::REFUSE:
      return refuse(in.getRefuse());
    case In::BYE:
      return Bye{text("bye", in.getBye(), kControlTextBytesMax)};
    case In::ASK:
      return Ask{in.getAsk().getNumber(),
                 text("ask.topic", in.getAsk().getTopic(), kControlTextBytesMax),
                 copy(in.getAsk().getBody())};
    case In::ANSWER:
      return Answer{in.getAnswer().getNumber(),
                    text("answer.topic", in.getAnswer().getTopic(), kControlTextBytesMax),
                    copy(in.getAnswer().getBody()), in.getAnswer().getLast()};
  }
  return UnknownControl{};
}

}  // namespace

bool is_node_name(std::string_view name) {
  constexpr std::string_view kOthers = "._:-";
  const auto plain = [](char c) { return is_letter(c) || is_digit(c); };
  return !name.empty() && name.size() <= kNameBytesMax && name[0] != '.' && name[0] != '-' &&
         std::ranges::all_of(name,
                             [&](char c) { return plain(c) || kOthers.contains(c) || c == '_'; });
}

Result<Envelope> decode_control(std::span<const std::byte> message) {
  if (message.size() > kWireMessageBytesMax)
    return std::unexpected(Error{"message", "longer than 1 MiB"});
  if (message.size() < 2 * kWordBytes || message.size() % kWordBytes != 0)
    return std::unexpected(Error{"message", "not whole words"});
  const Words words(message);
  ControlDecoder decoder(words, message);
  try {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words.view().size() + 64;  // an honest message is read once
    options.nestingLimit = kControlNestingMax;
    capnp::FlatArrayMessageReader reader(words.view(), options);
    const auto root = reader.getRoot<schema::Envelope>();
    Envelope envelope{root.getSession(), decoder.message(root)};
    if (decoder.error()) return std::unexpected(*decoder.error());
    return envelope;
  } catch (const kj::Exception& broken) {
    if (decoder.error()) return std::unexpected(*decoder.error());
    return std::unexpected(Error{"message", broken.getDescription().cStr()});
  }
}

}  // namespace l4::wire
