#include "tools/fleet/speech.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace l4::fleet {
namespace {

constexpr std::uint64_t kBytes = 2'000, kLines = 24;  ///< written by each rank in a second
constexpr std::uint32_t kParts = 12;                  ///< templates of an iteration
constexpr std::uint32_t kTraceback = 20, kError = 21, kStages = 30;
constexpr std::uint16_t kOwn = 0, kWait = 1;
constexpr double kOwnMs = 800;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::uint64_t file_key(const PlannedNode& planned, std::int32_t attempt, std::size_t rank) {
  return mixed(std::hash<std::string>{}(fmt::format("{}/{}/{}", planned.name, attempt, rank))) | 1U;
}

/// Makes the batch of one second.
class SecondBatch {
 public:
  SecondBatch(const PlannedNode& planned, TimeMs begin, Shipped& shipped)
      : planned_(planned),
        shipped_(shipped),
        second_(shipped.next),
        now_(planned.plan->at(second_)),
        at_(begin + Millis{second_ * 1000}) {}

  std::optional<wire::Batch> batch() {
    batch_.agent = planned_.name;
    batch_.job = job().name;
    add_processes();
    for (std::size_t rank = 0; rank < job().ranks; ++rank) speak(rank);
    if (batch_.segments.empty() && batch_.processes.empty()) return std::nullopt;
    define_sources();
    cover();
    return std::move(batch_);
  }

 private:
  const JobScript& job() const { return planned_.plan->job(); }
  bool is_faulty(std::size_t rank) const {
    return now_.fault->node == planned_.node && now_.fault->rank == rank;
  }
  SourceId source(std::size_t rank) const {
    return SourceId{
        static_cast<std::uint32_t>(static_cast<std::size_t>(now_.attempt) * job().ranks + rank)};
  }
  Rank global(std::size_t rank) const {
    return Rank{static_cast<std::int32_t>(planned_.node * job().ranks + rank)};
  }
  std::string path(std::size_t rank) const {
    return fmt::format("{}/attempt_{}/rank{}.log", planned_.name, now_.attempt,
                       global(rank).value());
  }

  void define(std::uint32_t id, std::string text, Level level, std::uint8_t marks = 0) {
    if (!shipped_.templates.insert(id).second) return;
    wire::TemplateDefinition made;
    made.id = LocalTemplateId{id};
    made.skeletons = {Skeleton{mixed(std::hash<std::string>{}(text))}};
    made.text = std::move(text);
    made.level = level;
    made.marks = marks;
    batch_.templates.push_back(std::move(made));
  }

  void define_sources() {
    if (!shipped_.attempts.insert(now_.attempt).second) return;
    if (shipped_.attempts.size() == 1)
      batch_.timers = {{kOwn, "forward-backward", wire::TimerKind::own},
                       {kWait, "all-reduce", wire::TimerKind::wait}};
    for (std::size_t rank = 0; rank < job().ranks; ++rank) {
      wire::SourceDefinition made;
      made.id = source(rank);
      made.path = path(rank);
      made.node = planned_.name;
      made.kind = wire::SourceKind::rank;
      made.rank = global(rank);
      made.rank_source = RankSource::env;
      made.local_rank = static_cast<std::int32_t>(rank);
      made.attempt = now_.attempt;
      batch_.sources.push_back(std::move(made));
    }
  }

  wire::Segment& segment(std::size_t rank, Stage stage) {
    wire::Segment made;
    made.source = source(rank);
    made.stage = stage;
    made.begin = made.end = at_;
    made.arrival_begin = made.arrival_end = at_;
    const auto age = static_cast<std::uint64_t>(second_ - now_.attempt_begin);
    made.bytes = {age * kBytes, (age + 1) * kBytes};
    made.lines = {age * kLines + 1, age * kLines + 1};
    made.timed_last_line = made.lines.last;
    return batch_.segments.emplace_back(std::move(made));
  }

  void line(wire::Segment& segment, std::uint32_t id, std::uint32_t count = 1) {
    segment.events.push_back(
        {LocalTemplateId{id}, count, segment.lines.first + segment.events.size(), at_});
    segment.order.push_back({LocalTemplateId{id}, count});
    segment.lines.last = std::min(segment.lines.first + kLines,
                                  segment.lines.last + (segment.events.size() > 1 ? count : 0));
    segment.timed_last_line = segment.lines.last;
  }

  void speak(std::size_t rank) {
    if (now_.iteration >= 0) return iterate(rank);
    if (now_.stage != Stage::unknown) {
      const auto id = kStages + static_cast<std::uint32_t>(now_.stage);
      define(id, fmt::format("{} begins", name(now_.stage)), Level::info);
      return line(segment(rank, now_.stage), id);
    }
    if (now_.fault == nullptr || now_.fault->kind != Kind::crash || now_.since_fault != 0) return;
    if (!is_faulty(rank)) return;
    define(kTraceback, "Traceback (most recent call last):", Level::error);
    define(kError, "RuntimeError: CUDA error: an illegal memory access was encountered",
           Level::error);
    wire::Segment& last = segment(rank, Stage::training);
    line(last, kTraceback);
    line(last, kError);
  }

  void iterate(std::size_t rank) {
    for (std::uint32_t i = 0; i < kParts && !shipped_.templates.contains(kParts - 1); ++i)
      define(i, fmt::format("iteration part {} took <*> ms", std::string(i + 1, 'x')), Level::info,
             i == 0 ? std::uint8_t{wire::kMarkIteration} : std::uint8_t{0});
    wire::Segment& made = segment(rank, Stage::training);
    made.iteration = Iteration{now_.iteration};
    made.boundary = wire::Boundary::completed;
    const double span = static_cast<double>(now_.took) * 1000;
    const auto noise = static_cast<std::int64_t>(
        mixed(planned_.plan->seed() + static_cast<std::uint64_t>(now_.iteration)) % 30);
    made.begin = at_ - Millis{now_.took * 1000 - 20};
    made.end = at_ + Millis{noise};
    for (std::uint32_t i = 0; i < kParts; ++i) line(made, i, 2);
    const bool slow = now_.fault != nullptr && now_.fault->node == planned_.node;
    const double own = slow ? span - (1000 - kOwnMs) : kOwnMs + static_cast<double>(rank);
    made.timers = {{kOwn, 1, own, own}, {kWait, 1, span - own, span - own}};
  }

  wire::ProcessFact process(std::size_t rank) const {
    wire::ProcessFact fact;
    fact.boot_id = planned_.name + "-boot";
    fact.pid = wire::Pid{
        static_cast<std::int32_t>(1'000 + 100 * now_.attempt + static_cast<std::int32_t>(rank))};
    fact.started_boot = std::chrono::seconds{1'000 + now_.attempt_begin};
    const TimeMs begin = at_ - Millis{(second_ - now_.attempt_begin) * 1000};
    fact.started = fact.since = fact.cpu_since = begin;
    fact.command = "python3";
    fact.part = wire::Part::rank;
    fact.attempt = now_.attempt;
    fact.rank = global(rank);
    fact.rank_source = RankSource::env;
    fact.local_rank = static_cast<std::int32_t>(rank);
    fact.world_size = static_cast<std::int32_t>(job().nodes * job().ranks);
    fact.state = state_of(rank);
    const TimeMs struck = at_ - Millis{now_.since_fault * 1000};
    if (fact.state == wire::ProcessState::stopped) fact.since = struck;
    if (fact.state == wire::ProcessState::gone) {
      const bool faulty = is_faulty(rank);
      fact.since = faulty ? struck : struck + Millis{kTeardown * 1000};
      fact.exit = {faulty ? wire::Exit::Kind::code : wire::Exit::Kind::signal, faulty ? 1 : 15,
                   wire::Exit::Seen::zombie};
    }
    return fact;
  }

  wire::ProcessState state_of(std::size_t rank) const {
    if (now_.fault == nullptr) return wire::ProcessState::sleeping;
    const Kind kind = now_.fault->kind;
    if (kind == Kind::stop && is_faulty(rank)) return wire::ProcessState::stopped;
    if (kind == Kind::crash && (is_faulty(rank) || now_.since_fault >= kTeardown))
      return wire::ProcessState::gone;
    return wire::ProcessState::sleeping;
  }

  void add_processes() {
    if (shipped_.processes_of != now_.attempt) shipped_.processes.clear();
    shipped_.processes_of = now_.attempt;
    shipped_.processes.resize(job().ranks, wire::ProcessState::unknown);
    for (std::size_t rank = 0; rank < job().ranks; ++rank)
      if (const auto state = state_of(rank);
          std::exchange(shipped_.processes[rank], state) != state)
        batch_.processes.push_back(process(rank));
  }

  void cover() {
    if (shipped_.attempt != now_.attempt) shipped_.covered = 0;
    shipped_.attempt = now_.attempt;
    const auto to = second_ - now_.attempt_begin + 1;
    for (std::size_t rank = 0; rank < job().ranks; ++rank) {
      wire::Coverage part;
      part.path = path(rank);
      part.bytes = {static_cast<std::uint64_t>(shipped_.covered) * kBytes,
                    static_cast<std::uint64_t>(to) * kBytes};
      for (const wire::Segment& segment : batch_.segments)
        if (segment.source == source(rank))
          part.lines += segment.lines.last - segment.lines.first + 1;
      part.bytes_known = part.bytes.to;
      part.file.key = file_key(planned_, now_.attempt, rank);
      batch_.coverage.push_back(std::move(part));
    }
    shipped_.covered = to;
  }

  static constexpr std::int64_t kTeardown = 2;  ///< seconds until the launcher ends the others

  const PlannedNode& planned_;
  Shipped& shipped_;
  std::int64_t second_;
  const Moment& now_;
  TimeMs at_;
  wire::Batch batch_;
};

}  // namespace

std::string node_name(const JobScript& job, std::size_t node) {
  return fmt::format("{}-node-{:04}", job.name, node);
}

void read_from(const PlannedNode& planned, const std::vector<wire::Position>& positions,
               Shipped& shipped) {
  shipped = {};
  std::map<std::uint64_t, std::uint64_t> offsets;
  for (const wire::Position& position : positions) offsets[position.file.key] = position.offset;
  // Finds the newest attempt with a position, and the seconds of it that are covered.
  for (std::int32_t attempt = 0, begins = 0;; ++attempt) {
    while (planned.plan->at(begins).attempt < attempt) {
      if (&planned.plan->at(begins) == &planned.plan->at(begins + 1)) return;
      ++begins;
    }
    const auto found = offsets.find(file_key(planned, attempt, 0));
    if (found == offsets.end()) continue;
    shipped.attempt = attempt;
    shipped.covered = static_cast<std::int64_t>(found->second / kBytes);
    shipped.next = begins + shipped.covered;
  }
}

std::optional<wire::Batch> next_batch(const PlannedNode& planned, TimeMs begin, Shipped& shipped) {
  const bool away = planned.plan->is_away(planned.node, shipped.next);
  auto batch = away ? std::nullopt : SecondBatch(planned, begin, shipped).batch();
  ++shipped.next;
  return batch;
}

}  // namespace l4::fleet
