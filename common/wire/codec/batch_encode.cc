#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/wire/codec/batch_codec.h"
#include "common/wire/codec/words.h"
#include "schemas/batch.capnp.h"

namespace l4::wire {
namespace {

/// Words of one struct of the schema in a list.
template <class Schema>
constexpr std::size_t words_of() {
  return Schema::_capnpPrivate::dataWordSize + Schema::_capnpPrivate::pointerCount;
}

std::size_t words_of_text(const std::string& text) {
  return text.empty() ? 0 : text.size() / kWordBytes + 1;
}

template <class Schema, class T>
std::size_t words_of_list(const std::vector<T>& list) {
  return list.empty() ? 0 : 1 + list.size() * words_of<Schema>();
}

std::size_t words_of_segment(const Segment& segment) {
  std::size_t words = words_of_list<schema::EventCount>(segment.events) +
                      words_of_list<schema::Run>(segment.order) +
                      words_of_list<schema::ParameterTuple>(segment.parameters) +
                      words_of_list<schema::TimerTotal>(segment.timers) +
                      words_of<schema::ByteRange>() + words_of<schema::LineRange>();
  for (const ParameterTuple& tuple : segment.parameters) {
    words += words_of_list<schema::Parameter>(tuple.values);
    for (const Parameter& value : tuple.values) words += words_of_text(value.value);
  }
  return words;
}

/// Exact, so that the message becomes one segment and is built where it stays.
std::size_t words_of_batch(const Batch& batch) {
  std::size_t words =
      1 + words_of<schema::Batch>() + words_of_text(batch.agent) + words_of_text(batch.job) +
      words_of_list<schema::SourceDefinition>(batch.sources) +
      words_of_list<schema::TemplateDefinition>(batch.templates) +
      words_of_list<schema::TimerName>(batch.timers) +
      words_of_list<schema::Segment>(batch.segments) +
      words_of_list<schema::Coverage>(batch.coverage) +
      words_of_list<schema::Warning>(batch.warnings) + (batch.forgotten.size() + 1) / 2 +
      words_of_list<schema::ProcessFact>(batch.processes) +
      words_of_list<schema::FigureWindow>(batch.figures) +
      words_of_list<schema::FileReading>(batch.readings) +
      words_of_list<schema::NicDefinition>(batch.nics.definitions) +
      words_of_list<schema::NicSecond>(batch.nics.seconds) +
      words_of_list<schema::NicRise>(batch.nics.rises);
  for (const auto& source : batch.sources)
    words += words_of_text(source.path) + words_of_text(source.node) + words_of_text(source.user) +
             (source.marker ? words_of_text(source.marker->pack) : 0);
  for (const auto& definition : batch.templates)
    words += words_of_text(definition.text) + definition.skeletons.size();
  for (const auto& timer : batch.timers) words += words_of_text(timer.name);
  for (const auto& segment : batch.segments) words += words_of_segment(segment);
  for (const auto& coverage : batch.coverage)
    words += words_of_text(coverage.path) + words_of<schema::ByteRange>() +
             (coverage.file != FileId{} ? words_of<schema::FileId>() : 0);
  for (const auto& warning : batch.warnings)
    words +=
        words_of_text(warning.kind) + words_of_text(warning.file) + words_of_text(warning.reason);
  for (const auto& fact : batch.processes)
    words += words_of_text(fact.boot_id) + words_of_text(fact.command) + words_of_text(fact.node) +
             words_of_text(fact.job);
  for (const auto& window : batch.figures) words += words_of_text(window.name);
  for (const auto& reading : batch.readings)
    words += words_of_text(reading.path) + words_of_text(reading.format) +
             words_of_text(reading.marker) + words_of_text(reading.marker_why) +
             words_of_text(reading.packs);
  for (const auto& nic : batch.nics.definitions)
    words += words_of_text(nic.name) + words_of_text(nic.node) + words_of_text(nic.driver) +
             words_of_text(nic.pci) + (nic.local_ranks.size() + 1) / 2 + (nic.ranks.size() + 1) / 2;
  for (const auto& rise : batch.nics.rises) words += words_of_text(rise.counter);
  return words;
}

/// Builds the first segment inside the vector that is handed out, behind the 8 bytes of a
/// one-segment header; copying happens only if the size was foretold wrong.
class FlatBuilder final : public capnp::MessageBuilder {
 public:
  explicit FlatBuilder(std::size_t words) : bytes_((words + 1) * kWordBytes) {}

  kj::ArrayPtr<capnp::word> allocateSegment(capnp::uint words_min) override {
    const std::size_t room = bytes_.size() / kWordBytes - 1;
    if (!first_taken_ && room >= words_min) {
      first_taken_ = true;
      return {reinterpret_cast<capnp::word*>(bytes_.data() + kWordBytes), room};
    }
    first_taken_ = true;
    const std::size_t words = std::max<std::size_t>(words_min, 1024);
    more_.push_back(std::make_unique<std::uint64_t[]>(words));
    return {reinterpret_cast<capnp::word*>(more_.back().get()), words};
  }

  Bytes finish() {
    const auto segments = getSegmentsForOutput();
    if (segments.size() == 1 && more_.empty()) {
      const auto words = static_cast<std::uint32_t>(segments[0].size());
      for (std::size_t i = 0; i < 4; ++i) bytes_[4 + i] = std::byte((words >> (8 * i)) & 0xff);
      bytes_.resize((segments[0].size() + 1) * kWordBytes);
      return std::move(bytes_);
    }
    const auto flat = capnp::messageToFlatArray(segments);
    Bytes bytes(flat.size() * kWordBytes);
    std::memcpy(bytes.data(), flat.begin(), bytes.size());
    return bytes;
  }

 private:
  Bytes bytes_;
  bool first_taken_ = false;
  std::vector<std::unique_ptr<std::uint64_t[]>> more_;
};

std::int64_t time_of(std::optional<TimeMs> time) {
  return time ? time->time_since_epoch().count() : schema::NO_TIME;
}

template <class T>
T or_none(std::optional<T> value) {
  return value && *value >= 0 ? *value : T{-1};
}

template <class Tag, class T>
T or_none(std::optional<Named<Tag, T>> id) {
  return or_none(id ? std::optional<T>(id->value()) : std::nullopt);
}

void put(schema::ByteRange::Builder out, const ByteRange& range) {
  out.setFrom(range.from);
  out.setTo(range.to);
}

void put(schema::SourceDefinition::Builder out, const SourceDefinition& value);
void put(schema::TemplateDefinition::Builder out, const TemplateDefinition& value);
void put(schema::TimerName::Builder out, const TimerName& value);
void put(schema::EventCount::Builder out, const EventCount& value);
void put(schema::Run::Builder out, const Run& value);
void put(schema::Parameter::Builder out, const Parameter& value);
void put(schema::ParameterTuple::Builder out, const ParameterTuple& value);
void put(schema::TimerTotal::Builder out, const TimerTotal& value);
void put(schema::Segment::Builder out, const Segment& value);
void put(schema::Coverage::Builder out, const Coverage& value);
void put(schema::Warning::Builder out, const Warning& value);
void put(schema::ProcessFact::Builder out, const ProcessFact& value);
void put(schema::FigureWindow::Builder out, const FigureWindow& value);
void put(schema::FileReading::Builder out, const FileReading& value);
void put(schema::NicDefinition::Builder out, const NicDefinition& value);
void put(schema::NicSecond::Builder out, const NicSecond& value);
void put(schema::NicRise::Builder out, const NicRise& value);

/// An absent list stays a null pointer: it costs nothing on the wire.
template <class T, class Init>
void put_list(const std::vector<T>& list, Init&& init) {
  if (list.empty()) return;
  auto out = init(static_cast<capnp::uint>(list.size()));
  for (capnp::uint i = 0; i < out.size(); ++i) put(out[i], list[i]);
}

template <class Out>
void put_text(Out& out, void (Out::*set)(capnp::Text::Reader), const std::string& text) {
  if (!text.empty()) (out.*set)({text.c_str(), text.size()});
}

void put(schema::SourceDefinition::Builder out, const SourceDefinition& source) {
  using Out = schema::SourceDefinition::Builder;
  out.setId(source.id.value());
  put_text(out, &Out::setPath, source.path);
  put_text(out, &Out::setNode, source.node);
  out.setKind(static_cast<std::uint8_t>(source.kind));
  out.setRank(or_none(source.rank));
  out.setRankSource(static_cast<std::uint8_t>(source.rank_source));
  out.setLocalRank(or_none(source.local_rank));
  out.setAttempt(source.attempt);
  out.setModified(time_of(source.modified));
  out.setRun(source.run);
  put_text(out, &Out::setUser, source.user);
  if (!source.marker) return;
  out.setMarker(source.marker->id.value());
  out.setMarkerGrounds(source.marker->grounds);
  out.setMarkerStanding(source.marker->standing);
  put_text(out, &Out::setMarkerPack, source.marker->pack);
}

void put(schema::TemplateDefinition::Builder out, const TemplateDefinition& definition) {
  out.setId(definition.id.value());
  out.setGeneration(definition.generation);
  put_text(out, &schema::TemplateDefinition::Builder::setText, definition.text);
  out.setLevel(static_cast<std::uint8_t>(definition.level));
  out.setMarks(definition.marks);
  if (!definition.skeletons.empty()) {
    auto skeletons = out.initSkeletons(static_cast<capnp::uint>(definition.skeletons.size()));
    for (capnp::uint i = 0; i < skeletons.size(); ++i)
      skeletons.set(i, definition.skeletons[i].value());
  }
  if (definition.alias_of) out.setAliasOf(definition.alias_of->value());
}

void put(schema::TimerName::Builder out, const TimerName& timer) {
  out.setTimer(timer.timer);
  put_text(out, &schema::TimerName::Builder::setName, timer.name);
  out.setKind(static_cast<std::uint8_t>(timer.kind));
  out.setLearned(timer.learned);
}

void put(schema::EventCount::Builder out, const EventCount& event) {
  out.setId(event.id.value());
  out.setCount(event.count);
  out.setFirstLine(event.first_line);
  out.setFirstTime(time_of(event.first_time));
}

void put(schema::Run::Builder out, const Run& run) {
  out.setId(run.id.value());
  out.setCount(run.count);
}

void put(schema::Parameter::Builder out, const Parameter& parameter) {
  out.setKind(static_cast<std::uint8_t>(parameter.kind));
  put_text(out, &schema::Parameter::Builder::setValue, parameter.value);
  out.setBlamed(parameter.blamed);
}

void put(schema::ParameterTuple::Builder out, const ParameterTuple& tuple) {
  out.setId(tuple.id.value());
  out.setCount(tuple.count);
  put_list(tuple.values, [&](auto size) { return out.initValues(size); });
}

void put(schema::TimerTotal::Builder out, const TimerTotal& total) {
  out.setTimer(total.timer);
  out.setCount(total.count);
  out.setSumMs(total.sum_ms);
  out.setMaxMs(total.max_ms);
}

void put(schema::Segment::Builder out, const Segment& segment) {
  out.setSource(segment.source.value());
  out.setStage(static_cast<std::uint8_t>(segment.stage));
  out.setStageAfter(static_cast<std::uint8_t>(segment.stage_after));
  out.setIteration(or_none(segment.iteration));
  out.setBoundary(static_cast<std::uint8_t>(segment.boundary));
  out.setReach(static_cast<std::uint8_t>(segment.reach));
  out.setBegin(time_of(segment.begin));
  out.setEnd(time_of(segment.end));
  out.setArrivalBegin(time_of(segment.arrival_begin));
  out.setArrivalEnd(time_of(segment.arrival_end));
  put(out.initBytes(), segment.bytes);
  auto lines = out.initLines();
  lines.setFirst(segment.lines.first);
  lines.setLast(segment.lines.last);
  out.setTimedLastLine(segment.timed_last_line);
  out.setCounted(segment.counted);
  out.setBefore(segment.before);
  out.setNumbering(segment.numbering);
  out.setBeat(segment.beat);
  out.setRounds(segment.rounds);
  out.setUpdates(segment.updates);
  put_list(segment.events, [&](auto size) { return out.initEvents(size); });
  put_list(segment.order, [&](auto size) { return out.initOrder(size); });
  out.setOrderCut(segment.order_cut);
  out.setClockReturned(segment.clock_returned);
  put_list(segment.parameters, [&](auto size) { return out.initParameters(size); });
  put_list(segment.timers, [&](auto size) { return out.initTimers(size); });
}

void put(schema::FileId::Builder out, const FileId& file) {
  out.setKey(file.key);
  out.setDevice(file.device);
  out.setInode(file.inode);
  out.setFingerprint(file.fingerprint);
  out.setFingerprintBytes(file.fingerprint_bytes);
}

void put(schema::Coverage::Builder out, const Coverage& coverage) {
  put_text(out, &schema::Coverage::Builder::setPath, coverage.path);
  put(out.initBytes(), coverage.bytes);
  out.setLines(coverage.lines);
  out.setBytesKnown(coverage.bytes_known);
  out.setBytesLost(coverage.bytes_lost);
  if (coverage.file != FileId{}) put(out.initFile(), coverage.file);
}

void put(schema::Warning::Builder out, const Warning& warning) {
  using Out = schema::Warning::Builder;
  put_text(out, &Out::setKind, warning.kind);
  put_text(out, &Out::setFile, warning.file);
  put_text(out, &Out::setReason, warning.reason);
  out.setBytes(warning.bytes);
}

void put(schema::ProcessFact::Builder out, const ProcessFact& fact) {
  using Out = schema::ProcessFact::Builder;
  put_text(out, &Out::setBootId, fact.boot_id);
  out.setPid(fact.pid.value());
  out.setStartedBootUs(fact.started_boot.count());
  out.setStarted(time_of(fact.started));
  put_text(out, &Out::setCommand, fact.command);
  out.setPart(static_cast<std::uint8_t>(fact.part));
  put_text(out, &Out::setNode, fact.node);
  put_text(out, &Out::setJob, fact.job);
  out.setAttempt(fact.attempt);
  out.setRequeue(fact.attempt_key.requeue);
  out.setStep(fact.attempt_key.step);
  out.setRestart(fact.attempt_key.restart);
  out.setRank(or_none(fact.rank));
  out.setRankSource(static_cast<std::uint8_t>(fact.rank_source));
  out.setLocalRank(or_none(fact.local_rank));
  out.setWorldSize(or_none(fact.world_size));
  out.setState(static_cast<std::uint8_t>(fact.state));
  out.setSince(time_of(fact.since));
  out.setCpuMs(fact.cpu.count());
  out.setCpuSince(time_of(fact.cpu_since));
  out.setExitKind(static_cast<std::uint8_t>(fact.exit.kind));
  out.setExitValue(fact.exit.value);
  out.setExitBy(static_cast<std::uint8_t>(fact.exit.by));
}

void put(schema::FigureWindow::Builder out, const FigureWindow& window) {
  out.setSource(window.source.value());
  out.setKind(static_cast<std::uint8_t>(window.kind));
  put_text(out, &schema::FigureWindow::Builder::setName, window.name);
  out.setFirst(or_none(window.first));
  out.setLast(or_none(window.last));
  out.setCount(window.count);
  out.setNotFinite(window.not_finite);
  out.setRun(window.run);
  out.setRunFrom(or_none(window.run_from));
  out.setLeast(window.least);
  out.setMedian(window.median);
  out.setMost(window.most);
  out.setFinal(window.final);
}

void put(schema::FileReading::Builder out, const FileReading& reading) {
  using Out = schema::FileReading::Builder;
  put_text(out, &Out::setPath, reading.path);
  out.setLines(reading.lines);
  out.setTimed(reading.timed);
  out.setGlued(reading.glued);
  out.setSplit(reading.split);
  put_text(out, &Out::setFormat, reading.format);
  put_text(out, &Out::setMarker, reading.marker);
  put_text(out, &Out::setMarkerWhy, reading.marker_why);
  put_text(out, &Out::setPacks, reading.packs);
}

void put(schema::NicDefinition::Builder out, const NicDefinition& nic) {
  using Out = schema::NicDefinition::Builder;
  out.setNic(nic.nic);
  out.setKind(static_cast<std::uint8_t>(nic.kind));
  put_text(out, &Out::setName, nic.name);
  put_text(out, &Out::setNode, nic.node);
  put_text(out, &Out::setDriver, nic.driver);
  put_text(out, &Out::setPci, nic.pci);
  out.setRateMbps(nic.rate_mbps);
  out.setRanksBy(static_cast<std::uint8_t>(nic.ranks_by));
  const auto fill = [](auto to, const std::vector<std::int32_t>& from) {
    for (capnp::uint i = 0; i < to.size(); ++i) to.set(i, from[i]);
  };
  const auto size = [](const auto& list) { return static_cast<capnp::uint>(list.size()); };
  if (!nic.local_ranks.empty()) fill(out.initLocalRanks(size(nic.local_ranks)), nic.local_ranks);
  if (!nic.ranks.empty()) fill(out.initRanks(size(nic.ranks)), nic.ranks);
}

void put(schema::NicSecond::Builder out, const NicSecond& second) {
  out.setBegin(time_of(second.begin));
  out.setSent(second.sent);
  out.setReceived(second.received);
  out.setTenths(second.tenths.bits());
  out.setNic(second.nic);
  out.setFirst(second.first);
  out.setLast(second.last);
  out.setLastSent(second.last_sent);
}

void put(schema::NicRise::Builder out, const NicRise& rise) {
  out.setAt(time_of(rise.at));
  out.setNic(rise.nic);
  put_text(out, &schema::NicRise::Builder::setCounter, rise.counter);
  out.setRise(rise.rise);
  out.setTotal(rise.total);
  out.setFault(rise.fault);
}

}  // namespace

Bytes encode(const Batch& batch) {
  FlatBuilder builder(words_of_batch(batch));
  auto out = builder.initRoot<schema::Batch>();
  put_text(out, &schema::Batch::Builder::setAgent, batch.agent);
  put_text(out, &schema::Batch::Builder::setJob, batch.job);
  out.setIncarnation(batch.incarnation);
  out.setSequence(batch.sequence);
  put_list(batch.sources, [&](auto size) { return out.initSources(size); });
  put_list(batch.templates, [&](auto size) { return out.initTemplates(size); });
  put_list(batch.timers, [&](auto size) { return out.initTimers(size); });
  put_list(batch.segments, [&](auto size) { return out.initSegments(size); });
  put_list(batch.coverage, [&](auto size) { return out.initCoverage(size); });
  put_list(batch.warnings, [&](auto size) { return out.initWarnings(size); });
  if (!batch.forgotten.empty()) {
    auto forgotten = out.initForgotten(static_cast<capnp::uint>(batch.forgotten.size()));
    for (capnp::uint i = 0; i < forgotten.size(); ++i) forgotten.set(i, batch.forgotten[i].value());
  }
  put_list(batch.processes, [&](auto size) { return out.initProcesses(size); });
  put_list(batch.figures, [&](auto size) { return out.initFigures(size); });
  put_list(batch.readings, [&](auto size) { return out.initReadings(size); });
  put_list(batch.nics.definitions, [&](auto size) { return out.initNics(size); });
  put_list(batch.nics.seconds, [&](auto size) { return out.initNicSeconds(size); });
  put_list(batch.nics.rises, [&](auto size) { return out.initNicRises(size); });
  out.setLinesByHalf(batch.lines_by_half);
  return builder.finish();
}

}  // namespace l4::wire
