#include "tests/common/wire/codec/random_batch.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire/limits.h"

namespace l4::wire {
namespace {

/// Makes the parts of a batch from an engine.
class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {}

  Batch batch() {
    Batch batch;
    batch.agent = text(40);
    batch.job = text(40);
    batch.incarnation = number<std::uint64_t>();
    batch.sequence = number<std::uint64_t>();
    fill(batch.sources, 5, [&] { return source(); });
    fill(batch.templates, 9, [&] { return definition(); });
    fill(batch.timers, 3, [&] {
      return TimerName{number<std::uint16_t>(), text(20), word(TimerKind::mixed), below(2) == 0};
    });
    fill(batch.segments, 6, [&] { return segment(); });
    fill(batch.coverage, 3, [&] {
      const FileId file{number<std::uint64_t>(), number<std::uint64_t>(), number<std::uint64_t>(),
                        number<std::uint64_t>(), number<std::uint32_t>()};
      Coverage coverage{text(60), range(), number<std::uint64_t>(), number<std::uint64_t>(),
                        below(2) ? file : FileId{}};
      const std::uint64_t bytes = coverage.bytes.to - coverage.bytes.from;
      coverage.bytes_lost = below(2) ? std::min(bytes, number<std::uint64_t>()) : 0;
      return coverage;
    });
    fill(batch.warnings, 2,
         [&] { return Warning{text(9), text(60), text(200), number<std::uint64_t>()}; });
    fill(batch.forgotten, below(20) == 0 ? 1000 : 9,
         [&] { return LocalTemplateId{number<std::uint32_t>()}; });
    fill(batch.processes, 4, [&] { return process(); });
    fill(batch.figures, 4, [&] { return figure_window(); });
    fill(batch.readings, 3, [&] {
      const auto [timed, lines] = std::minmax({number<std::uint64_t>(), number<std::uint64_t>()});
      return FileReading{
          text(60), lines,    timed,   number<std::uint64_t>(), number<std::uint64_t>(), text(9),
          text(90), text(90), text(20)};
    });
    fill(batch.nics.definitions, 3, [&] { return nic(); });
    fill(batch.nics.seconds, 9, [&] { return nic_second(); });
    fill(batch.nics.rises, 3, [&] {
      return NicRise{past(),
                     nic_id(),
                     text(60),
                     below(2) == 0,
                     number<std::uint64_t>(),
                     number<std::uint64_t>()};
    });
    batch.lines_by_half = number<std::uint64_t>();
    return batch;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  template <class T, class Make>
  void fill(std::vector<T>& list, std::size_t most, Make make) {
    const std::size_t n = below(3) == 0 ? 0 : below(most + 1);
    for (std::size_t i = 0; i < n; ++i) list.push_back(make());
  }

  TimeMs past() { return TimeMs{Millis{static_cast<std::int64_t>(below(1U << 30U))}}; }
  std::uint16_t nic_id() { return static_cast<std::uint16_t>(below(kNicsMax)); }

  NicDefinition nic() {
    NicDefinition out;
    out.nic = nic_id();
    out.kind = word(NicKind::infiniband);
    out.name = text(60);
    out.node = text(60);
    out.driver = text(20);
    out.pci = text(20);
    out.rate_mbps = number<std::uint32_t>();
    fill(out.local_ranks, 8, [&] { return static_cast<std::int32_t>(below(1000)); });
    fill(out.ranks, 8, [&] { return static_cast<std::int32_t>(below(100'000)); });
    out.ranks_by = word(NicRanksBy::nccl_lines);
    return out;
  }

  NicSecond nic_second() {
    const auto within = [&] {
      return below(2) == 0 ? NicSecond::kNone : static_cast<std::uint16_t>(below(1001));
    };
    NicSecond out;
    out.begin = past();
    out.sent = number<std::uint64_t>();
    out.received = number<std::uint64_t>();
    out.tenths = Tenths{number<std::uint64_t>()};
    out.nic = nic_id();
    out.first = within();
    out.last = within();
    out.last_sent = within();
    return out;
  }

  template <class T>
  T number() {
    switch (below(4)) {
      case 0:
        return T{0};
      case 1:
        return std::numeric_limits<T>::max();
      case 2:
        return static_cast<T>(below(1000));
      default:
        return static_cast<T>(random_() &
                              static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    }
  }

  template <class Enum>
  Enum word(Enum last) {
    return static_cast<Enum>(below(static_cast<std::size_t>(last) + 1));
  }

  std::string text(std::size_t most) {
    static constexpr std::string_view kPieces[] = {"rank ", "<*>",  "\n",       "\t",   "\x1b[31m",
                                                   "é",     "迭代", "\xff\xfe", "\x7f", "a"};
    std::string out;
    if (below(5) == 0) return out;
    while (out.size() < most && below(12) != 0)
      out +=
          below(15) == 0 ? std::string(1, '\0') : std::string(kPieces[below(std::size(kPieces))]);
    out.resize(std::min(out.size(), most));
    return out;
  }

  std::optional<TimeMs> time() {
    switch (below(5)) {
      case 0:
        return std::nullopt;
      case 1:
        return TimeMs{Millis{std::numeric_limits<std::int64_t>::max()}};
      case 2:
        return TimeMs{Millis{std::numeric_limits<std::int64_t>::min() + 1}};
      default:
        return TimeMs{Millis{static_cast<std::int64_t>(random_() % 4'000'000'000'000)}};
    }
  }

  ByteRange range() {
    const auto [from, to] = std::minmax({number<std::uint64_t>(), number<std::uint64_t>()});
    return {from, to};
  }

  TimeMs moment() { return TimeMs{Millis{static_cast<std::int64_t>(random_() >> 5U)}}; }

  ProcessFact process() {
    ProcessFact fact;
    fact.boot_id = text(kBootIdBytesMax);
    fact.pid = Pid{number<std::int32_t>()};
    fact.started_boot = std::chrono::microseconds{random_() >> 5U};
    fact.started = below(2) ? moment() : TimeMs{};
    fact.command = text(kCommandBytesMax);
    fact.part = word(Part::helper);
    fact.node = text(kProcessNameBytesMax);
    fact.job = text(kProcessNameBytesMax);
    fact.attempt = number<std::int32_t>() * (below(2) ? 1 : -1);
    fact.attempt_key = {number<std::uint32_t>(), number<std::uint32_t>(), number<std::uint32_t>()};
    if (below(2)) fact.rank = Rank{number<std::int32_t>()};
    fact.rank_source = word(RankSource::derived);
    if (below(2)) fact.local_rank = number<std::int32_t>();
    if (below(2)) fact.world_size = number<std::int32_t>();
    fact.state = word(ProcessState::gone);
    fact.since = moment();
    fact.cpu = Millis{random_() >> 5U};
    fact.cpu_since = moment();
    fact.exit = {word(Exit::Kind::signal), number<std::int32_t>() * (below(2) ? 1 : -1),
                 word(Exit::Seen::pidfd)};
    return fact;
  }

  SourceDefinition source() {
    SourceDefinition source;
    source.id = SourceId{number<std::uint32_t>()};
    source.path = text(80);
    source.node = text(20);
    source.kind = word(SourceKind::other);
    if (below(2)) source.rank = Rank{number<std::int32_t>()};
    source.rank_source = word(RankSource::derived);
    if (below(2)) source.local_rank = number<std::int32_t>();
    source.attempt = number<std::int32_t>() * (below(2) ? 1 : -1);
    source.run = number<std::uint32_t>();
    source.modified = time();
    source.user = text(kUserBytesMax);
    return source;
  }

  TemplateDefinition definition() {
    TemplateDefinition definition;
    definition.id = LocalTemplateId{number<std::uint32_t>()};
    definition.generation = number<std::uint32_t>();
    definition.text = text(below(10) == 0 ? kTemplateTextBytesMax : 120);
    definition.level = word(Level::fatal);
    definition.marks = number<std::uint8_t>();
    fill(definition.skeletons, kSkeletonsMax, [&] { return Skeleton{random_()}; });
    if (below(4) == 0) definition.alias_of = LocalTemplateId{number<std::uint32_t>()};
    return definition;
  }

  ParameterTuple tuple() {
    ParameterTuple tuple{LocalTemplateId{number<std::uint32_t>()}, number<std::uint32_t>(), {}};
    fill(tuple.values, 4,
         [&] { return Parameter{word(ParameterKind::duration_ms), text(kParameterBytesMax)}; });
    return tuple;
  }

  FigureWindow figure_window() {
    FigureWindow window;
    window.source = SourceId{number<std::uint32_t>()};
    window.kind = word(FigureKind::rate);
    window.name = text(kFigureNameBytesMax);
    if (below(2)) window.first = Iteration{number<std::int64_t>()};
    window.last = window.first;
    window.run_from = window.first;
    window.count = static_cast<std::uint32_t>(1 + below(1000));
    window.not_finite = static_cast<std::uint32_t>(below(window.count + 1));
    window.run = static_cast<std::uint32_t>(below(window.count + 1));
    window.least = -static_cast<double>(below(1000)) / 64.0;
    window.median = 0.5;
    window.most = std::numeric_limits<double>::max();
    window.final = below(2) ? std::numeric_limits<double>::infinity() : 3.25;
    return window;
  }

  Segment segment() {
    Segment segment;
    segment.source = SourceId{number<std::uint32_t>()};
    segment.stage = word(Stage::exit);
    segment.stage_after = word(Stage::exit);
    if (below(2)) segment.iteration = Iteration{number<std::int64_t>()};
    segment.boundary = word(Boundary::completed);
    segment.reach = word(Reach::pass);
    segment.begin = time();
    segment.end = time();
    segment.arrival_begin = time();
    segment.arrival_end = time();
    segment.bytes = range();
    const auto [first, last] = std::minmax({number<std::uint64_t>(), number<std::uint64_t>()});
    segment.lines = {first, last};
    segment.counted = number<std::uint8_t>() % 2 == 0;
    segment.timed_last_line = number<std::uint64_t>();
    segment.updates = number<std::uint32_t>();
    segment.beat = number<std::uint32_t>();
    segment.rounds = number<std::uint16_t>();
    segment.order_cut = below(2) == 0;
    segment.clock_returned = below(8) == 0;
    fill(segment.events, 20, [&] {
      return EventCount{LocalTemplateId{number<std::uint32_t>()}, number<std::uint32_t>(),
                        number<std::uint64_t>(), time()};
    });
    fill(segment.order, below(20) == 0 ? kOrderRunsMax : 30,
         [&] { return Run{LocalTemplateId{number<std::uint32_t>()}, number<std::uint32_t>()}; });
    fill(segment.parameters, 4, [&] { return tuple(); });
    fill(segment.timers, 3, [&] {
      return TimerTotal{number<std::uint16_t>(), number<std::uint32_t>(),
                        static_cast<double>(random_() % 1'000'000'007) / 64.0,
                        below(2) ? std::numeric_limits<double>::max() : -0.5};
    });
    return segment;
  }

  std::mt19937_64& random_;
};

}  // namespace

Batch RandomBatch::batch() {
  return Maker(random_).batch();
}

}  // namespace l4::wire
