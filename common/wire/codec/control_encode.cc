#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "common/wire/codec/control_codec.h"
#include "common/wire/codec/words.h"
#include "schemas/control.capnp.h"

namespace l4::wire {
namespace {

capnp::Data::Reader raw(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

std::int64_t ms(TimeMs time) {
  return time.time_since_epoch().count();
}

void put(schema::PositionPage::Builder out, const PositionPage& page) {
  out.setMore(page.more);
  auto list = out.initPositions(static_cast<capnp::uint>(page.positions.size()));
  for (capnp::uint i = 0; i < list.size(); ++i) {
    const Position& position = page.positions[i];
    list[i].setKey(position.file.key);
    list[i].setDevice(position.file.device);
    list[i].setInode(position.file.inode);
    list[i].setFingerprint(position.file.fingerprint);
    list[i].setFingerprintBytes(position.file.fingerprint_bytes);
    list[i].setPath(text_of(position.path));
    list[i].setOffset(position.offset);
    list[i].setLines(position.lines);
  }
}

/// One overload per kind of message.
struct Put {
  schema::Envelope::Builder out;

  void operator()(const UnknownControl&) { out.setNothing(); }
  void operator()(const Hello& hello) {
    auto to = out.initHello();
    to.setVersionMin(hello.version_min);
    to.setVersionMax(hello.version_max);
    to.setFeatures(hello.features);
    to.setAgent(text_of(hello.agent));
    to.setIncarnation(hello.incarnation);
    to.setBootId(text_of(hello.boot_id));
    to.setSoftware(text_of(hello.software));
    to.setBatchesHeld(hello.batches_held);
    to.setBytesHeld(hello.bytes_held);
    to.setFilesHeld(hello.files_held);
  }
  void operator()(const Welcome& welcome) {
    auto to = out.initWelcome();
    to.setVersion(welcome.version);
    to.setFeatures(welcome.features);
    to.setIncarnation(welcome.incarnation);
    to.setSoftware(text_of(welcome.software));
    to.setWindow(welcome.window);
    to.setHeartbeatMs(welcome.heartbeat_ms);
    to.setMessageBytesMax(welcome.message_bytes_max);
    to.setLastSequence(welcome.last_sequence);
    put(to.initPage(), welcome.page);
  }
  void operator()(const MorePositions& more) { out.setMorePositions(more.after); }
  void operator()(const PositionPage& page) { put(out.initPositions(), page); }
  void operator()(const Heartbeat& heartbeat) {
    auto to = out.initHeartbeat();
    to.setNumber(heartbeat.number);
    to.setWall(ms(heartbeat.wall));
    to.setBatchesSent(heartbeat.batches_sent);
    to.setOffsetKnown(heartbeat.offset_known);
    to.setOffsetMs(heartbeat.offset.count());
    to.setDelayMs(heartbeat.delay.count());
    to.setBatchesHeld(heartbeat.batches_held);
    to.setBytesHeld(heartbeat.bytes_held);
    to.setShedding(static_cast<std::uint8_t>(heartbeat.shedding));
    if (!heartbeat.released.empty()) {
      auto list = to.initReleased(static_cast<capnp::uint>(heartbeat.released.size()));
      for (capnp::uint i = 0; i < list.size(); ++i) list.set(i, heartbeat.released[i]);
    }
    if (heartbeat.hints.empty()) return;
    auto hints = to.initHints(static_cast<capnp::uint>(heartbeat.hints.size()));
    for (capnp::uint i = 0; i < hints.size(); ++i) hints.set(i, text_of(heartbeat.hints[i]));
  }
  void operator()(const HeartbeatReply& reply) {
    auto to = out.initHeartbeatReply();
    to.setNumber(reply.number);
    to.setReceived(ms(reply.received));
    to.setReplied(ms(reply.replied));
    to.setBatchesReceived(reply.batches_received);
    to.setBatchesCommitted(reply.batches_committed);
    to.setWindow(reply.window);
  }
  void operator()(const BatchFrame& batch) {
    auto to = out.initBatch();
    to.setNumber(batch.number);
    to.setBody(raw(batch.body));
  }
  void operator()(const Ack& ack) {
    auto to = out.initAck();
    to.setNumber(ack.number);
    to.setWindow(ack.window);
  }
  void operator()(const Want& want) {
    auto to = out.initWant();
    to.setNumber(want.number);
    auto files = to.initFiles(static_cast<capnp::uint>(want.files.size()));
    for (capnp::uint i = 0; i < files.size(); ++i) {
      files[i].setKey(want.files[i].key);
      files[i].setOffset(want.files[i].offset);
    }
  }
  void operator()(const Refuse& refuse) {
    auto to = out.initRefuse();
    to.setReason(static_cast<std::uint8_t>(refuse.reason));
    to.setText(text_of(refuse.text));
    to.setRetryAfterMs(refuse.retry_after_ms);
    to.setNumber(refuse.number);
  }
  void operator()(const Bye& bye) { out.setBye(text_of(bye.reason)); }
  void operator()(const Ask& ask) {
    auto to = out.initAsk();
    to.setNumber(ask.number);
    to.setTopic(text_of(ask.topic));
    to.setBody(raw(ask.body));
  }
  void operator()(const Answer& answer) {
    auto to = out.initAnswer();
    to.setNumber(answer.number);
    to.setTopic(text_of(answer.topic));
    to.setBody(raw(answer.body));
    to.setLast(answer.last);
  }
};

std::size_t words_of_page(const PositionPage& page) {
  std::size_t bytes = 0;
  for (const Position& position : page.positions) bytes += encoded_bytes(position);
  return bytes / kWordBytes;
}

/// Enough for one segment: references between several would take room beyond the computed size.
std::size_t words_of(const Envelope& envelope) {
  std::size_t words = 2 * kControlTextBytesMax / kWordBytes + kEnvelopeBytesMax / kWordBytes;
  if (const auto* batch = std::get_if<BatchFrame>(&envelope.message))
    words += batch->body.size() / kWordBytes;
  if (const auto* welcome = std::get_if<Welcome>(&envelope.message))
    words += words_of_page(welcome->page);
  if (const auto* page = std::get_if<PositionPage>(&envelope.message))
    words += words_of_page(*page);
  if (const auto* ask = std::get_if<Ask>(&envelope.message)) words += ask->body.size() / kWordBytes;
  if (const auto* answer = std::get_if<Answer>(&envelope.message))
    words += answer->body.size() / kWordBytes;
  return words;
}

}  // namespace

std::size_t encoded_bytes(const Position& position) {
  constexpr std::size_t kStruct =
      schema::Position::_capnpPrivate::dataWordSize + schema::Position::_capnpPrivate::pointerCount;
  return (kStruct + position.path.size() / kWordBytes + 1) * kWordBytes;
}

Bytes encode(const Envelope& envelope) {
  capnp::MallocMessageBuilder builder(static_cast<capnp::uint>(words_of(envelope)));
  auto root = builder.initRoot<schema::Envelope>();
  root.setSession(envelope.session);
  std::visit(Put{root}, envelope.message);
  const auto segments = builder.getSegmentsForOutput();
  Bytes bytes(capnp::computeSerializedSizeInWords(segments) * kWordBytes);
  kj::ArrayOutputStream out({reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()});
  capnp::writeMessage(out, segments);
  return bytes;
}

}  // namespace l4::wire
