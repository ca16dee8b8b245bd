#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/wire/codec/batch_codec.h"
#include "common/wire/codec/words.h"
#include "schemas/batch.capnp.h"

namespace l4::wire {
namespace {

constexpr int kBatchNestingMax = 8;
constexpr std::int64_t kMomentMax = std::int64_t{1} << 60;

/// The field that is being decoded, so that an error can name it.
class Place {
 public:
  void field(std::string_view name) { frames_[depth_] = {name, kNoIndex}; }
  void index(std::size_t i) { frames_[depth_].index = i; }
  void enter() { ++depth_; }
  void leave() { --depth_; }
  std::string text() const {
    std::string path;
    for (std::size_t i = 0; i <= depth_; ++i) {
      if (frames_[i].name.empty()) continue;
      if (!path.empty()) path += '.';
      path += frames_[i].name;
      if (frames_[i].index != kNoIndex) path += fmt::format("[{}]", frames_[i].index);
    }
    return path.empty() ? "batch" : path;
  }

 private:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
  struct Frame {
    std::string_view name;
    std::size_t index = kNoIndex;
  };
  std::array<Frame, 6> frames_;  // batch, segment, tuple, parameter and one to spare
  std::size_t depth_ = 0;
};

/// Reads a batch field by field. The first broken rule is kept; reading goes on harmlessly, since
/// the sizes are bounded by `elements_left_`.
class BatchDecoder {
 public:
  explicit BatchDecoder(std::size_t words) : elements_left_(words) {}

  void batch(schema::Batch::Reader in, Batch& out);
  const std::optional<Error>& error() const { return error_; }
  std::string place() const { return place_.text(); }

 private:
  void require(bool holds, std::string_view reason) {
    if (!holds && !error_) error_ = Error{place_.text(), std::string(reason)};
  }

  template <class In>
  std::string text(std::string_view field, const In& in, capnp::Text::Reader (In::*get)() const) {
    place_.field(field);
    const capnp::Text::Reader text = (in.*get)();
    return {text.begin(), text.size()};
  }

  template <class Enum>
  Enum word(std::string_view field, std::uint8_t value, Enum last) {
    place_.field(field);
    require(value <= static_cast<std::uint8_t>(last), "unknown word of a closed list");
    return static_cast<Enum>(std::min(value, static_cast<std::uint8_t>(last)));
  }

  /// -1 means none; a smaller number is an error.
  template <class T>
  std::optional<T> number(std::string_view field, T value) {
    place_.field(field);
    require(value >= -1, "negative number");
    return value >= 0 ? std::optional<T>(value) : std::nullopt;
  }

  static std::optional<TimeMs> time(std::int64_t value) {
    if (value == schema::NO_TIME) return std::nullopt;
    return TimeMs{Millis{value}};
  }

  /// Every element of a list takes at least a word of an honest message. Byte-sized elements that
  /// pose as structs would make a small message decode to a huge batch: they run out of words.
  template <class In, class List>
  auto list(std::string_view field, const In& in, List (In::*get)() const) {
    place_.field(field);
    const List elements = (in.*get)();
    const bool fits = elements.size() <= elements_left_;
    require(fits, "more elements than the message has words");
    if (fits) elements_left_ -= elements.size();
    return std::pair(elements, fits ? elements.size() : 0u);
  }

  /// Replaces the content of `out`, which keeps its room.
  template <class Out, class In, class List, class One>
  void each(std::string_view field, const In& in, List (In::*get)() const, One one,
            std::vector<Out>& out) {
    const auto [elements, size] = list(field, in, get);
    out.clear();
    out.reserve(size);
    for (capnp::uint i = 0; i < size && !error_; ++i) {
      place_.index(i);
      place_.enter();
      place_.field({});
      out.push_back((this->*one)(elements[i]));
      place_.leave();
    }
    place_.field(field);
  }

  template <class Out, class In, class List, class One>
  std::vector<Out> each(std::string_view field, const In& in, List (In::*get)() const, One one) {
    std::vector<Out> out;
    each(field, in, get, one, out);
    return out;
  }

  /// Like each(), for elements that are always valid, which are most of a message.
  template <class Out, class In, class List, class Make>
  void each_plain(std::string_view field, const In& in, List (In::*get)() const, Make make,
                  std::vector<Out>& out) {
    const auto [elements, size] = list(field, in, get);
    out.clear();
    if (error_) return;
    out.reserve(size);
    for (capnp::uint i = 0; i < size; ++i) out.push_back(make(elements[i]));
  }

  SourceDefinition source(schema::SourceDefinition::Reader in);
  TemplateDefinition definition(schema::TemplateDefinition::Reader in);
  TimerName timer_name(schema::TimerName::Reader in);
  static EventCount event(schema::EventCount::Reader in);
  static Run run(schema::Run::Reader in);
  Parameter parameter(schema::Parameter::Reader in);
  ParameterTuple tuple(schema::ParameterTuple::Reader in);
  TimerTotal timer_total(schema::TimerTotal::Reader in);
  Segment segment(schema::Segment::Reader in);
  Coverage coverage(schema::Coverage::Reader in);
  Warning warning(schema::Warning::Reader in);
  ProcessFact process(schema::ProcessFact::Reader in);
  FigureWindow figure_window(schema::FigureWindow::Reader in);
  FileReading reading(schema::FileReading::Reader in);
  NicDefinition nic(schema::NicDefinition::Reader in);
  NicSecond nic_second(schema::NicSecond::Reader in);
  NicRise nic_rise(schema::NicRise::Reader in);

  std::uint16_t nic_id(std::uint16_t id) {
    place_.field("nic");
    require(id < kNicsMax, "too many network cards");
    return id;
  }

  std::optional<Iteration> iteration(std::string_view field, std::int64_t value) {
    const auto known = number(field, value);
    return known ? std::optional(Iteration{*known}) : std::nullopt;
  }

  template <class In>
  std::string short_text(std::string_view field, const In& in,
                         capnp::Text::Reader (In::*get)() const, std::size_t bytes_max) {
    std::string out = text(field, in, get);
    require(out.size() <= bytes_max, "text is too long");
    return out;
  }

  /// Notes an error for a moment or span that is impossible, or so large that sums could overflow.
  std::int64_t millis(std::string_view field, std::int64_t value, std::int64_t least) {
    place_.field(field);
    require(value >= least && value <= kMomentMax, "time out of range");
    return value;
  }

  std::vector<LocalTemplateId> template_ids(capnp::List<std::uint32_t>::Reader in) {
    place_.field("forgotten");
    const std::size_t words = words_of_ids(in.size());
    require(in.size() <= kForgottenMax, "too many ids");
    require(words <= elements_left_, "more elements than the message has words");
    if (error_) return {};
    elements_left_ -= words;
    std::vector<LocalTemplateId> ids;
    ids.reserve(in.size());
    for (const std::uint32_t id : in) ids.emplace_back(id);
    return ids;
  }

  ByteRange range(schema::ByteRange::Reader in) {
    require(in.getFrom() <= in.getTo(), "range ends before it begins");
    return {in.getFrom(), in.getTo()};
  }

  std::size_t elements_left_;
  Place place_;
  std::optional<Error> error_;
};

SourceDefinition BatchDecoder::source(schema::SourceDefinition::Reader in) {
  using In = schema::SourceDefinition::Reader;
  SourceDefinition out;
  out.id = SourceId{in.getId()};
  out.path = text("path", in, &In::getPath);
  out.node = text("node", in, &In::getNode);
  out.kind = word("kind", in.getKind(), SourceKind::other);
  if (const auto rank = number("rank", in.getRank())) out.rank = Rank{*rank};
  out.rank_source = word("rank_source", in.getRankSource(), RankSource::derived);
  out.local_rank = number("local_rank", in.getLocalRank());
  out.attempt = in.getAttempt();
  out.modified = time(in.getModified());
  out.run = in.getRun();
  out.user = short_text("user", in, &In::getUser, kUserBytesMax);
  if (const auto marker = number("marker", in.getMarker())) {
    require(*marker <= std::numeric_limits<std::uint32_t>::max(), "not a template id");
    out.marker = Marker{LocalTemplateId{static_cast<std::uint32_t>(*marker)}, in.getMarkerGrounds(),
                        in.getMarkerStanding(), text("marker_pack", in, &In::getMarkerPack)};
  }
  return out;
}

TemplateDefinition BatchDecoder::definition(schema::TemplateDefinition::Reader in) {
  using In = schema::TemplateDefinition::Reader;
  TemplateDefinition out;
  out.id = LocalTemplateId{in.getId()};
  out.generation = in.getGeneration();
  out.text = text("text", in, &In::getText);
  require(out.text.size() <= kTemplateTextBytesMax, "text is too long");
  out.level = word("level", in.getLevel(), Level::fatal);
  out.marks = in.getMarks();
  const auto [skeletons, size] = list("skeletons", in, &In::getSkeletons);
  require(size <= kSkeletonsMax, "too many skeletons");
  out.skeletons.reserve(size);
  for (capnp::uint i = 0; i < size; ++i) out.skeletons.emplace_back(skeletons[i]);
  const auto alias = number("alias_of", in.getAliasOf());
  require(alias.value_or(0) <= std::numeric_limits<std::uint32_t>::max(), "not a template id");
  if (alias) out.alias_of = LocalTemplateId{static_cast<std::uint32_t>(*alias)};
  return out;
}

TimerName BatchDecoder::timer_name(schema::TimerName::Reader in) {
  using In = schema::TimerName::Reader;
  return {in.getTimer(), text("name", in, &In::getName),
          word("kind", in.getKind(), TimerKind::mixed), in.getLearned()};
}

EventCount BatchDecoder::event(schema::EventCount::Reader in) {
  return {LocalTemplateId{in.getId()}, in.getCount(), in.getFirstLine(), time(in.getFirstTime())};
}

Run BatchDecoder::run(schema::Run::Reader in) {
  return {LocalTemplateId{in.getId()}, in.getCount()};
}

Parameter BatchDecoder::parameter(schema::Parameter::Reader in) {
  Parameter out;
  out.kind = word("kind", in.getKind(), ParameterKind::duration_ms);
  out.value = text("value", in, &schema::Parameter::Reader::getValue);
  require(out.value.size() <= kParameterBytesMax, "value is too long");
  out.blamed = in.getBlamed();
  return out;
}

ParameterTuple BatchDecoder::tuple(schema::ParameterTuple::Reader in) {
  using In = schema::ParameterTuple::Reader;
  return {LocalTemplateId{in.getId()}, in.getCount(),
          each<Parameter>("values", in, &In::getValues, &BatchDecoder::parameter)};
}

TimerTotal BatchDecoder::timer_total(schema::TimerTotal::Reader in) {
  place_.field("sum_ms");
  require(std::isfinite(in.getSumMs()), "not a number");
  place_.field("max_ms");
  require(std::isfinite(in.getMaxMs()), "not a number");
  return {in.getTimer(), in.getCount(), in.getSumMs(), in.getMaxMs()};
}

Segment BatchDecoder::segment(schema::Segment::Reader in) {
  using In = schema::Segment::Reader;
  Segment out;
  out.source = SourceId{in.getSource()};
  out.stage = word("stage", in.getStage(), Stage::exit);
  out.stage_after = word("stage after", in.getStageAfter(), Stage::exit);
  if (const auto iteration = number("iteration", in.getIteration()))
    out.iteration = Iteration{*iteration};
  out.boundary = word("boundary", in.getBoundary(), Boundary::completed);
  out.reach = word("reach", in.getReach(), Reach::pass);
  out.begin = time(in.getBegin());
  out.end = time(in.getEnd());
  out.arrival_begin = time(in.getArrivalBegin());
  out.arrival_end = time(in.getArrivalEnd());
  place_.field("bytes");
  out.bytes = range(in.getBytes());
  place_.field("lines");
  const auto lines = in.getLines();
  out.lines = {lines.getFirst(), lines.getLast()};
  require(out.lines.first <= out.lines.last, "range ends before it begins");
  out.timed_last_line = in.getTimedLastLine();
  out.counted = in.getCounted();
  out.before = in.getBefore();
  out.numbering = in.getNumbering();
  out.beat = in.getBeat();
  out.rounds = in.getRounds();
  out.updates = in.getUpdates();
  each_plain("events", in, &In::getEvents, event, out.events);
  each_plain("order", in, &In::getOrder, run, out.order);
  require(out.order.size() <= kOrderRunsMax, "too many runs");
  out.order_cut = in.getOrderCut();
  out.clock_returned = in.getClockReturned();
  each("parameters", in, &In::getParameters, &BatchDecoder::tuple, out.parameters);
  each("timers", in, &In::getTimers, &BatchDecoder::timer_total, out.timers);
  return out;
}

Coverage BatchDecoder::coverage(schema::Coverage::Reader in) {
  Coverage out;
  out.path = text("path", in, &schema::Coverage::Reader::getPath);
  place_.field("bytes");
  out.bytes = range(in.getBytes());
  out.lines = in.getLines();
  out.bytes_known = in.getBytesKnown();
  out.bytes_lost = in.getBytesLost();
  require(out.bytes_lost <= out.bytes.to - out.bytes.from, "more is lost than there is");
  const auto file = in.getFile();
  out.file = {file.getKey(), file.getDevice(), file.getInode(), file.getFingerprint(),
              file.getFingerprintBytes()};
  return out;
}

Warning BatchDecoder::warning(schema::Warning::Reader in) {
  using In = schema::Warning::Reader;
  Warning out;
  out.kind = text("kind", in, &In::getKind);
  out.file = text("file", in, &In::getFile);
  out.reason = text("reason", in, &In::getReason);
  out.bytes = in.getBytes();
  return out;
}

ProcessFact BatchDecoder::process(schema::ProcessFact::Reader in) {
  using In = schema::ProcessFact::Reader;
  const auto moment = [&](std::string_view field, std::int64_t value) {
    return TimeMs{Millis{millis(field, value, -kMomentMax)}};
  };
  ProcessFact out;
  out.boot_id = short_text("boot_id", in, &In::getBootId, kBootIdBytesMax);
  place_.field("pid");
  require(in.getPid() >= 0, "negative number");
  out.pid = Pid{in.getPid()};
  out.started_boot = std::chrono::microseconds{millis("started_boot", in.getStartedBootUs(), 0)};
  out.started = moment("started", in.getStarted());
  out.command = short_text("command", in, &In::getCommand, kCommandBytesMax);
  out.part = word("part", in.getPart(), Part::helper);
  out.node = short_text("node", in, &In::getNode, kProcessNameBytesMax);
  out.job = short_text("job", in, &In::getJob, kProcessNameBytesMax);
  out.attempt = in.getAttempt();
  out.attempt_key = {in.getRequeue(), in.getStep(), in.getRestart()};
  if (const auto rank = number("rank", in.getRank())) out.rank = Rank{*rank};
  out.rank_source = word("rank_source", in.getRankSource(), RankSource::derived);
  out.local_rank = number("local_rank", in.getLocalRank());
  out.world_size = number("world_size", in.getWorldSize());
  out.state = word("state", in.getState(), ProcessState::gone);
  out.since = moment("since", in.getSince());
  out.cpu = Millis{millis("cpu", in.getCpuMs(), 0)};
  out.cpu_since = moment("cpu_since", in.getCpuSince());
  out.exit.kind = word("exit.kind", in.getExitKind(), Exit::Kind::signal);
  out.exit.value = in.getExitValue();
  out.exit.by = word("exit.by", in.getExitBy(), Exit::Seen::pidfd);
  return out;
}

FigureWindow BatchDecoder::figure_window(schema::FigureWindow::Reader in) {
  FigureWindow out;
  out.source = SourceId{in.getSource()};
  out.kind = word("kind", in.getKind(), FigureKind::rate);
  out.name = short_text("name", in, &schema::FigureWindow::Reader::getName, kFigureNameBytesMax);
  out.first = iteration("first", in.getFirst());
  out.last = iteration("last", in.getLast());
  out.count = in.getCount();
  out.not_finite = in.getNotFinite();
  out.run = in.getRun();
  place_.field("count");
  require(out.count > 0 && out.not_finite <= out.count && out.run <= out.count,
          "counts contradict each other");
  out.run_from = iteration("run_from", in.getRunFrom());
  out.least = in.getLeast();
  out.median = in.getMedian();
  out.most = in.getMost();
  place_.field("median");
  require(std::isfinite(out.least) && std::isfinite(out.median) && std::isfinite(out.most),
          "not a number");
  out.final = in.getFinal();
  return out;
}

FileReading BatchDecoder::reading(schema::FileReading::Reader in) {
  using In = schema::FileReading::Reader;
  FileReading out;
  out.path = short_text("path", in, &In::getPath, kReadingTextBytesMax);
  out.lines = in.getLines();
  out.timed = in.getTimed();
  out.glued = in.getGlued();
  out.split = in.getSplit();
  place_.field("timed");
  require(out.timed <= out.lines, "more lines have a time than there are");
  out.format = short_text("format", in, &In::getFormat, kReadingTextBytesMax);
  out.marker = short_text("marker", in, &In::getMarker, kReadingTextBytesMax);
  out.marker_why = short_text("marker_why", in, &In::getMarkerWhy, kReadingTextBytesMax);
  out.packs = short_text("packs", in, &In::getPacks, kReadingTextBytesMax);
  return out;
}

NicDefinition BatchDecoder::nic(schema::NicDefinition::Reader in) {
  using In = schema::NicDefinition::Reader;
  NicDefinition out;
  out.nic = nic_id(in.getNic());
  out.kind = word("kind", in.getKind(), NicKind::infiniband);
  out.name = short_text("name", in, &In::getName, kNicNameBytesMax);
  out.node = short_text("node", in, &In::getNode, kProcessNameBytesMax);
  out.driver = short_text("driver", in, &In::getDriver, kNicNameBytesMax);
  out.pci = short_text("pci", in, &In::getPci, kNicNameBytesMax);
  out.rate_mbps = in.getRateMbps();
  out.ranks_by = word("ranks_by", in.getRanksBy(), NicRanksBy::nccl_lines);
  const auto fill = [&](std::vector<std::int32_t>& to, const auto& ranks, capnp::uint size) {
    require(size <= kNicLocalRanksMax, "too many ranks of a card");
    for (capnp::uint i = 0; i < size && i < kNicLocalRanksMax; ++i) {
      require(ranks[i] >= 0, "negative number");
      to.push_back(ranks[i]);
    }
  };
  const auto [local, locals] = list("local_ranks", in, &In::getLocalRanks);
  fill(out.local_ranks, local, locals);
  const auto [ranks, size] = list("ranks", in, &In::getRanks);
  fill(out.ranks, ranks, size);
  return out;
}

NicSecond BatchDecoder::nic_second(schema::NicSecond::Reader in) {
  NicSecond out;
  out.begin = TimeMs{Millis{millis("begin", in.getBegin(), 0)}};
  out.sent = in.getSent();
  out.received = in.getReceived();
  out.tenths = Tenths{in.getTenths()};
  out.nic = nic_id(in.getNic());
  const auto within = [&](std::string_view field, std::uint16_t value) {
    place_.field(field);
    require(value <= 1000 || value == NicSecond::kNone, "beyond the second");
    return value;
  };
  out.first = within("first", in.getFirst());
  out.last = within("last", in.getLast());
  out.last_sent = within("last_sent", in.getLastSent());
  return out;
}

NicRise BatchDecoder::nic_rise(schema::NicRise::Reader in) {
  NicRise out;
  out.at = TimeMs{Millis{millis("at", in.getAt(), 0)}};
  out.nic = nic_id(in.getNic());
  out.counter = short_text("counter", in, &schema::NicRise::Reader::getCounter, kNicNameBytesMax);
  out.rise = in.getRise();
  out.total = in.getTotal();
  out.fault = in.getFault();
  return out;
}

void BatchDecoder::batch(schema::Batch::Reader in, Batch& out) {
  using In = schema::Batch::Reader;
  out.agent = text("agent", in, &In::getAgent);
  out.job = text("job", in, &In::getJob);
  out.incarnation = in.getIncarnation();
  out.sequence = in.getSequence();
  each("sources", in, &In::getSources, &BatchDecoder::source, out.sources);
  each("templates", in, &In::getTemplates, &BatchDecoder::definition, out.templates);
  each("timers", in, &In::getTimers, &BatchDecoder::timer_name, out.timers);
  each("segments", in, &In::getSegments, &BatchDecoder::segment, out.segments);
  each("coverage", in, &In::getCoverage, &BatchDecoder::coverage, out.coverage);
  each("warnings", in, &In::getWarnings, &BatchDecoder::warning, out.warnings);
  each("processes", in, &In::getProcesses, &BatchDecoder::process, out.processes);
  each("figures", in, &In::getFigures, &BatchDecoder::figure_window, out.figures);
  each("readings", in, &In::getReadings, &BatchDecoder::reading, out.readings);
  each("nics", in, &In::getNics, &BatchDecoder::nic, out.nics.definitions);
  each("nic_seconds", in, &In::getNicSeconds, &BatchDecoder::nic_second, out.nics.seconds);
  each("nic_rises", in, &In::getNicRises, &BatchDecoder::nic_rise, out.nics.rises);
  out.forgotten = template_ids(in.getForgotten());
  out.lines_by_half = in.getLinesByHalf();
}

}  // namespace

Result<Batch> decode(std::span<const std::byte> message) {
  Batch batch;
  if (const auto decoded = decode(message, batch); !decoded)
    return std::unexpected(decoded.error());
  return batch;
}

Result<void> decode(std::span<const std::byte> message, Batch& batch) {
  if (message.size() > kMessageBytesMax)
    return std::unexpected(Error{"batch", "message is longer than 64 MiB"});
  if (message.size() < 2 * kWordBytes || message.size() % kWordBytes != 0)
    return std::unexpected(Error{"batch", "message is not whole words"});
  const Words words(message);
  BatchDecoder decoder(words.view().size());
  try {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words.view().size() + 64;  // an honest message is read once
    options.nestingLimit = kBatchNestingMax;
    capnp::FlatArrayMessageReader reader(words.view(), options);
    decoder.batch(reader.getRoot<schema::Batch>(), batch);
    if (decoder.error()) return std::unexpected(*decoder.error());
    return {};
  } catch (const kj::Exception& broken) {
    if (decoder.error()) return std::unexpected(*decoder.error());
    return std::unexpected(Error{decoder.place(), broken.getDescription().cStr()});
  }
}

}  // namespace l4::wire
