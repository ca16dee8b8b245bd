#include "aggregator/watch/process_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/numbers/watch.h"
#include "common/base/check.h"
#include "common/base/time.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

using wire::Exit;
using wire::ProcessState;

constexpr std::size_t kProcessesMax = 65'536;

}  // namespace

bool ProcessBoard::applied(const std::string& agent, const std::vector<wire::ProcessFact>& facts,
                           TimeMs arrival) {
  bool restarted = false;
  for (const wire::ProcessFact& fact : facts) {
    if (fact.part != wire::Part::rank) continue;
    const auto attempt = attempts_.try_emplace(agent, fact.attempt).first;
    if (fact.attempt < attempt->second) continue;
    if (fact.attempt > attempt->second) {
      restarted = true;
      attempt->second = fact.attempt;
      drop(agent);
    }
    Key key{agent, fact.boot_id, fact.pid, fact.started_boot};
    if (processes_.size() >= kProcessesMax && !processes_.contains(key)) {
      ++left_out_;
      continue;
    }
    const auto [at, created] = processes_.try_emplace(std::move(key));
    if (created) ++alive_;
    world_ = std::max(world_, fact.world_size.value_or(0));
    apply(at->second, fact, arrival);
  }
  return restarted;
}

/// Drops the processes of an agent when it begins another attempt.
void ProcessBoard::drop(const std::string& agent) {
  const std::tuple first(agent, std::string(), wire::Pid{0}, std::chrono::microseconds{0});
  auto at = processes_.lower_bound(first);
  while (at != processes_.end() && std::get<0>(at->first) == agent) {
    Process& process = at->second;
    L4_CHECK(process.state == ProcessState::gone || alive_ > 0,
             "a process of {} lives, and none of {}", agent, processes_.size());
    if (process.state != ProcessState::gone)
      --alive_;
    else if (process.exit.is_well())
      --left_well_;
    if (process.counted_stopped) --stopped_;
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second == &process; });
    at = processes_.erase(at);
  }
  world_ = 0;
  all_left_.reset();
}

void ProcessBoard::apply(Process& process, const wire::ProcessFact& fact, TimeMs arrival) {
  process.rank = fact.rank;
  process.node = fact.node;
  if (process.state == fact.state || process.state == ProcessState::gone) return;
  if (process.counted_stopped) --stopped_;
  process.counted_stopped = false;
  process.state = fact.state;
  process.exit = fact.exit;
  process.since = arrival;
  process.due = due_of(process);
  if (process.due) waiting_.emplace(*process.due, &process);
  if (fact.state != ProcessState::gone) return;
  L4_CHECK(alive_ > 0, "{} of {} processes live, one exits", alive_, processes_.size());
  --alive_;
  if (fact.exit.is_well()) ++left_well_;
  if (alive_ == 0 && processes_.size() >= static_cast<std::size_t>(world_)) all_left_ = arrival;
}

std::optional<TimeMs> ProcessBoard::due_of(const Process& process) const {
  switch (process.state) {
    case ProcessState::gone:
      if (process.exit.kind == Exit::Kind::unseen)
        return process.since + numbers::watch().process_unseen;
      return process.exit.is_well() ? process.since + numbers::watch().left_well : process.since;
    case ProcessState::stopped:
      return process.since + numbers::watch().process_stopped;
    case ProcessState::traced:
      return process.since + numbers::watch().process_traced;
    case ProcessState::uninterruptible:
      return process.since + device_wait_;
    default:
      return std::nullopt;
  }
}

std::optional<Trigger> ProcessBoard::trigger_of(Process& process) {
  Trigger trigger{Cause::process_left, process.since, process.node, process.rank, {}, false};
  const std::string who =
      process.rank ? fmt::format("the process of rank {}", process.rank->value()) : "a rank";
  if (process.state == ProcessState::gone) {
    const bool well = process.exit.is_well();
    const bool sure = !well && process.exit.kind != Exit::Kind::unseen;
    if (!sure && alive_ == 0) return std::nullopt;  // all left: see all_left_
    trigger.detail = fmt::format("{} left{} ({})", who, sure ? "" : " while others go on",
                                 wire::text(process.exit));
    return trigger;
  }
  trigger.cause = Cause::process_stopped;
  process.counted_stopped = true;
  ++stopped_;
  trigger.detail = process.state == ProcessState::uninterruptible
                       ? fmt::format("{} waits for a device or a file system since {}", who,
                                     to_rfc3339(process.since))
                       : fmt::format("{} is stopped{}", who,
                                     process.state == ProcessState::traced ? " by a debugger" : "");
  return trigger;
}

std::vector<Trigger> ProcessBoard::due(TimeMs now) {
  std::vector<Trigger> triggers;
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const auto [at, process] = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    if (process->due != at) continue;
    process->due.reset();
    if (auto trigger = trigger_of(*process)) triggers.push_back(std::move(*trigger));
  }
  if (all_left_ && *all_left_ + numbers::watch().all_left <= now) {
    triggers.push_back({Cause::ended,
                        *all_left_,
                        {},
                        {},
                        fmt::format("all {} rank processes left, {} with exit code 0",
                                    processes_.size(), left_well_),
                        false});
    all_left_.reset();
  }
  return triggers;
}

std::optional<TimeMs> ProcessBoard::next() const {
  std::optional<TimeMs> next;
  if (!waiting_.empty()) next = waiting_.begin()->first;
  if (all_left_)
    next = std::min(next.value_or(TimeMs::max()), *all_left_ + numbers::watch().all_left);
  return next;
}

template <class Archive, class Self>
void ProcessBoard::persist(Archive& archive, Self& self) {
  const auto on_key = [&](auto& key) {
    auto& [agent, boot, pid, started] = key;
    archive(agent, boot, pid, started);
  };
  archive.map(self.processes_, sizeof(std::uint64_t), on_key, [&](auto& process) {
    archive.enumerator(process.state, ProcessState::gone);
    archive.enumerator(process.exit.kind, Exit::Kind::signal);
    archive(process.exit.value);
    archive.enumerator(process.exit.by, Exit::Seen::pidfd);
    archive(process.rank, process.node, process.since, process.due, process.counted_stopped);
    if constexpr (Archive::kLoads) {
      if (process.due) self.waiting_.emplace(*process.due, &process);
    }
  });
  const auto value = [&](auto& one) { archive(one); };
  archive.map(self.attempts_, 2, value, value);
  archive(self.alive_, self.stopped_, self.left_well_, self.world_, self.all_left_, self.left_out_);
}

void ProcessBoard::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void ProcessBoard::load(ByteReader& in) {
  saved::Reader archive(in);
  waiting_.clear();
  persist(archive, *this);
}

}  // namespace l4::watch
