#include "agent/host/watch_file.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace l4::host {
namespace {

constexpr std::string_view kProcess = "process", kLog = "log";

template <class Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

/// -1: not known.
template <class Value>
std::int64_t number(const std::optional<Value>& value) {
  if (!value) return -1;
  if constexpr (std::is_integral_v<Value>)
    return *value;
  else
    return value->value();
}

template <class Value>
std::optional<Value> known(std::int32_t value) {
  return value < 0 ? std::nullopt : std::optional<Value>(value);
}

/// Whether a process has ended, and whether its end is acknowledged.
enum class End : std::uint8_t { none, unacked, acked };

End end_of(const ProcessWatch::Remembered& one) {
  if (one.fact.state != ProcessState::gone) return End::none;
  return one.acked ? End::acked : End::unacked;
}

std::int64_t millis(TimeMs time) {
  return time.time_since_epoch().count();
}

/// State and processor time of a running process are left out, as they change all the time. Only
/// the end is kept: its time and whether it was acknowledged.
std::string row_of(const ProcessWatch::Remembered& one) {
  const ProcessFact& fact = one.fact;
  const bool gone = fact.state == ProcessState::gone;
  std::string row = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", kProcess, word(fact.boot_id),
                                fact.pid.value(), fact.started_boot.count(), millis(fact.started),
                                word(fact.command), number(fact.part), word(fact.node),
                                word(fact.job), fact.attempt, word(one.job), number(one.via));
  const AttemptKey& key = fact.attempt_key;
  row += fmt::format(" {} {} {} {} {} {} {}", key.requeue, key.step, key.restart, number(fact.rank),
                     number(fact.rank_source), number(fact.local_rank), number(fact.world_size));
  row += fmt::format(" {} {} {} {} {}", number(end_of(one)), gone ? millis(fact.since) : 0,
                     gone ? number(fact.exit.kind) : 0, gone ? fact.exit.value : 0,
                     gone ? number(fact.exit.by) : 0);
  return row;
}

template <class Enum>
Enum enum_of(RowReader& row, Enum last, bool& good) {
  const auto value = row.number<int>();
  good = good && value >= 0 && value <= number(last);
  return good ? static_cast<Enum>(value) : Enum{};
}

std::optional<ProcessWatch::Remembered> read_process(RowReader& row) {
  ProcessWatch::Remembered one;
  ProcessFact& fact = one.fact;
  bool good = true;
  fact.boot_id = row.text();
  fact.pid = Pid{row.number<std::int32_t>()};
  fact.started_boot = SinceBoot{row.number<std::int64_t>()};
  fact.started = TimeMs{Millis{row.number<std::int64_t>()}};
  fact.command = row.text();
  fact.part = enum_of(row, Part::helper, good);
  fact.node = row.text();
  fact.job = row.text();
  fact.attempt = row.number<std::int32_t>();
  one.job = row.text();
  one.via = enum_of(row, Via::container, good);
  AttemptKey& key = fact.attempt_key;
  key.requeue = row.number<std::uint32_t>();
  key.step = row.number<std::uint32_t>();
  key.restart = row.number<std::uint32_t>();
  fact.rank = known<Rank>(row.number<std::int32_t>());
  fact.rank_source = enum_of(row, RankSource::derived, good);
  fact.local_rank = known<std::int32_t>(row.number<std::int32_t>());
  fact.world_size = known<std::int32_t>(row.number<std::int32_t>());
  const End end = enum_of(row, End::acked, good);
  one.acked = end == End::acked;
  fact.state = end != End::none ? ProcessState::gone : ProcessState::unknown;
  fact.since = TimeMs{Millis{row.number<std::int64_t>()}};
  fact.exit.kind = enum_of(row, Exit::Kind::signal, good);
  fact.exit.value = row.number<std::int32_t>();
  fact.exit.by = enum_of(row, Exit::Seen::pidfd, good);
  const bool valid = fact.pid.value() > 0 && fact.started_boot >= SinceBoot{0} &&
                     fact.boot_id.size() <= wire::kBootIdBytesMax &&
                     fact.command.size() <= wire::kCommandBytesMax &&
                     fact.node.size() <= wire::kProcessNameBytesMax &&
                     fact.job.size() <= wire::kProcessNameBytesMax;
  if (!good || !row.good() || !row.at_end() || !valid) return std::nullopt;
  return one;
}

/// The row of a log; it follows the row of its process.
std::optional<LogFile> read_log(RowReader& row, const ProcessFact& owner) {
  const Pid pid{row.number<std::int32_t>()};
  const SinceBoot started{row.number<std::int64_t>()};
  if (pid != owner.pid || started != owner.started_boot) return std::nullopt;
  LogFile log;
  log.key.device = row.number<std::uint64_t>();
  log.key.inode = row.number<std::uint64_t>();
  log.node = row.text();
  log.path = row.texts();
  if (!row.good() || log.path.empty()) return std::nullopt;
  return log;
}

}  // namespace

WatchFile::WatchFile(std::string path) : file_(std::move(path), "l4 processes 1") {}

Result<WatchFile::Loaded> WatchFile::load() const {
  auto rows = file_.load();
  if (!rows) return std::unexpected(std::move(rows.error()));
  Loaded loaded;
  loaded.damaged = rows->damaged;
  std::vector<ProcessWatch::Remembered>& processes = loaded.processes;
  for (const std::string& text : rows->rows) {
    RowReader row(text);
    const std::string kind = row.text();
    auto one = kind == kProcess ? read_process(row) : std::nullopt;
    auto log =
        kind == kLog && !processes.empty() ? read_log(row, processes.back().fact) : std::nullopt;
    if (one)
      processes.push_back(std::move(*one));
    else if (log)
      processes.back().logs.push_back(std::move(*log));
    else
      ++loaded.damaged;
  }
  return loaded;
}

Result<void> WatchFile::save(const std::vector<ProcessWatch::Remembered>& processes) {
  std::vector<std::string> rows;
  for (const ProcessWatch::Remembered& one : processes) {
    rows.push_back(row_of(one));
    for (const LogFile& log : one.logs)
      rows.push_back(fmt::format("{} {} {} {} {} {} {}", kLog, one.fact.pid.value(),
                                 one.fact.started_boot.count(), log.key.device, log.key.inode,
                                 word(log.node), words(log.path)));
  }
  return file_.save(rows);
}

}  // namespace l4::host
