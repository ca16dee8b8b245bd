#include "aggregator/job/process_table.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace l4::job {
namespace {

using wire::ProcessFact;

/// Smaller goes first.
auto worth(const ProcessFact& fact) {
  const int part = fact.state == wire::ProcessState::gone ? 0
                   : fact.part == wire::Part::rank        ? 3
                   : fact.part == wire::Part::launcher    ? 2
                                                          : 1;
  return std::pair(part, fact.since);
}

void save_time(ByteWriter& out, TimeMs time) {
  out.signed_number(time.time_since_epoch().count());
}

TimeMs load_time(ByteReader& in) {
  return TimeMs{Millis{in.signed_number()}};
}

template <class T>
void save_number(ByteWriter& out, const std::optional<T>& value) {
  out.number(value ? static_cast<std::uint64_t>(*value) + 1 : 0);
}

std::optional<std::int32_t> load_number(ByteReader& in) {
  const std::uint32_t value = in.number32();
  if (value > 0x8000'0000U) in.fail();
  return value > 0 ? std::optional(static_cast<std::int32_t>(value - 1)) : std::nullopt;
}

template <class Word>
Word load_word(ByteReader& in, Word last) {
  const auto word = static_cast<Word>(in.byte());
  if (word > last) in.fail();
  return std::min(word, last);
}

void save_fact(ByteWriter& out, const ProcessFact& fact) {
  out.text(fact.boot_id);
  out.signed_number(fact.pid.value());
  out.signed_number(fact.started_boot.count());
  save_time(out, fact.started);
  out.text(fact.command);
  out.byte(static_cast<std::uint8_t>(fact.part));
  out.text(fact.node);
  out.text(fact.job);
  out.signed_number(fact.attempt);
  out.number(fact.attempt_key.requeue);
  out.number(fact.attempt_key.step);
  out.number(fact.attempt_key.restart);
  save_number(out, fact.rank ? std::optional(fact.rank->value()) : std::nullopt);
  out.byte(static_cast<std::uint8_t>(fact.rank_source));
  save_number(out, fact.local_rank);
  save_number(out, fact.world_size);
  out.byte(static_cast<std::uint8_t>(fact.state));
  save_time(out, fact.since);
  out.signed_number(fact.cpu.count());
  save_time(out, fact.cpu_since);
  out.byte(static_cast<std::uint8_t>(fact.exit.kind));
  out.signed_number(fact.exit.value);
  out.byte(static_cast<std::uint8_t>(fact.exit.by));
}

ProcessFact load_fact(ByteReader& in) {
  ProcessFact fact;
  fact.boot_id = in.text();
  fact.pid = wire::Pid{static_cast<std::int32_t>(in.signed_number())};
  fact.started_boot = std::chrono::microseconds{in.signed_number()};
  fact.started = load_time(in);
  fact.command = in.text();
  fact.part = load_word(in, wire::Part::helper);
  fact.node = in.text();
  fact.job = in.text();
  fact.attempt = static_cast<std::int32_t>(in.signed_number());
  fact.attempt_key.requeue = in.number32();
  fact.attempt_key.step = in.number32();
  fact.attempt_key.restart = in.number32();
  if (const auto rank = load_number(in)) fact.rank = Rank{*rank};
  fact.rank_source = load_word(in, RankSource::derived);
  fact.local_rank = load_number(in);
  fact.world_size = load_number(in);
  fact.state = load_word(in, wire::ProcessState::gone);
  fact.since = load_time(in);
  fact.cpu = Millis{in.signed_number()};
  fact.cpu_since = load_time(in);
  fact.exit.kind = load_word(in, wire::Exit::Kind::signal);
  fact.exit.value = static_cast<std::int32_t>(in.signed_number());
  fact.exit.by = load_word(in, wire::Exit::Seen::pidfd);
  return fact;
}

}  // namespace

void ProcessTable::put(const ProcessFact& fact, std::size_t processes_max) {
  const auto [at, created] = facts_.try_emplace({fact.boot_id, fact.pid, fact.started_boot}, fact);
  if (!created &&
      (at->second.state != wire::ProcessState::gone || fact.state == wire::ProcessState::gone))
    at->second = fact;
  while (facts_.size() > processes_max) {
    facts_.erase(std::ranges::min_element(facts_, {},
                                          [](const auto& entry) { return worth(entry.second); }));
    ++forgotten_;
  }
}

void ProcessTable::save(ByteWriter& out) const {
  out.number(forgotten_);
  out.number(facts_.size());
  for (const auto& [key, fact] : facts_) save_fact(out, fact);
}

void ProcessTable::load(ByteReader& in) {
  forgotten_ = in.number();
  facts_.clear();
  constexpr std::size_t kBytesEach = 23;
  for (std::size_t left = in.count(kBytesEach); left > 0 && in.ok(); --left) {
    ProcessFact fact = load_fact(in);
    auto key = std::tuple(fact.boot_id, fact.pid, fact.started_boot);
    facts_.insert_or_assign(std::move(key), std::move(fact));
  }
}

}  // namespace l4::job
