// JobWatch and its parts as bytes and back.
#include <algorithm>

#include "aggregator/watch/job_watch.h"

namespace l4::watch {
namespace {

void put_time(ByteWriter& out, TimeMs time) {
  out.signed_number(time.time_since_epoch().count());
}

TimeMs get_time(ByteReader& in) {
  return TimeMs{Millis{in.signed_number()}};
}

void put_time(ByteWriter& out, const std::optional<TimeMs>& time) {
  out.byte(time ? 1 : 0);
  if (time) put_time(out, *time);
}

std::optional<TimeMs> get_optional_time(ByteReader& in) {
  if (in.byte() == 0) return std::nullopt;
  return get_time(in);
}

/// Rank, iteration: anything that is a number by itself.
template <class Id>
void put_id(ByteWriter& out, const std::optional<Id>& id) {
  out.byte(id ? 1 : 0);
  if (id) out.signed_number(id->value());
}

template <class Id>
std::optional<Id> get_id(ByteReader& in) {
  if (in.byte() == 0) return std::nullopt;
  return Id{static_cast<typename Id::value_type>(in.signed_number())};
}

/// An enumerator, up to the last one.
template <class Enum>
Enum get_enum(ByteReader& in, Enum last) {
  const auto value = static_cast<Enum>(in.byte());
  if (value > last) in.fail();
  return value > last ? Enum{} : value;
}

bool get_flag(ByteReader& in) {
  return in.byte() != 0;
}

}  // namespace

void Pace::save(ByteWriter& out) const {
  out.number(kept_.size());
  for (const double ms : kept_) out.real(ms);
  out.number(added_);
  out.number(asked_at_);
  out.number(wait_);
  out.real(ratio_);
  out.real(before_ms_);
  out.real(slow_ms_);
  out.byte(slower_ ? 1 : 0);
}

void Pace::load(ByteReader& in) {
  kept_.resize(in.count(sizeof(double)));
  for (double& ms : kept_) ms = in.real();
  if (kept_.size() > kKept) in.fail();
  added_ = in.number();
  asked_at_ = in.number();
  wait_ = in.number();
  ratio_ = in.real();
  before_ms_ = in.real();
  slow_ms_ = in.real();
  slower_ = get_flag(in);
}

void Pauses::save(ByteWriter& out) const {
  for (const History& history : kinds_) {
    out.number(history.count);
    out.signed_number(history.largest.count());
    out.number(history.logs.size());
    for (const float log : history.logs) out.real(static_cast<double>(log));
  }
  for (const Millis largest : largest_) out.signed_number(largest.count());
}

void Pauses::load(ByteReader& in) {
  for (History& history : kinds_) {
    history = {};
    history.count = in.number();
    history.largest = Millis{in.signed_number()};
    history.logs.resize(in.count(sizeof(double)));
    for (float& log : history.logs) log = static_cast<float>(in.real());
    if (history.logs.size() != std::min(history.count, kKept)) return in.fail();
  }
  for (Millis& largest : largest_) largest = Millis{in.signed_number()};
}

void Progress::save(ByteWriter& out) const {
  pauses_.save(out);
  pace_.save(out);
  put_time(out, last_);
  put_time(out, marked_);
  out.byte(static_cast<std::uint8_t>(kind_.stage));
  for (const bool flag : {kind_.startup, iterated_, printed_, interrupted_}) out.byte(flag ? 1 : 0);
  put_id(out, newest_);
  out.byte(paced_ ? 1 : 0);
  if (paced_) {
    out.signed_number(paced_->iteration.value());
    put_time(out, paced_->at);
  }
  out.number(stages_begun_);
  put_time(out, stage_at_);
  out.number(stage_agent_);
  out.number(streams_.size());
  for (const auto& [key, iteration] : streams_) {
    out.word(key);
    out.signed_number(iteration.value());
  }
  out.number(stray_);
  out.signed_number(order_);
  out.number(ticks_);
  out.number(attempts_);
}

void Progress::load(ByteReader& in) {
  pauses_.load(in);
  pace_.load(in);
  last_ = get_optional_time(in);
  marked_ = get_optional_time(in);
  kind_.stage = get_enum(in, Stage::exit);
  for (bool* flag : {&kind_.startup, &iterated_, &printed_, &interrupted_}) *flag = get_flag(in);
  newest_ = get_id<Iteration>(in);
  paced_.reset();
  if (get_flag(in)) {
    const Iteration iteration{in.signed_number()};
    paced_ = Moment{iteration, get_time(in)};
  }
  stages_begun_ = in.number32();
  stage_at_ = get_optional_time(in);
  stage_agent_ = in.number32();
  streams_.clear();
  for (std::size_t left = in.count(sizeof(std::uint64_t) + 1); left > 0; --left) {
    const std::uint64_t key = in.word();
    streams_[key] = Iteration{in.signed_number()};
  }
  stray_ = in.number();
  order_ = in.signed_number();
  ticks_ = in.number();
  attempts_ = in.number();
}

void ProcessBoard::save(ByteWriter& out) const {
  out.number(processes_.size());
  for (const auto& [key, process] : processes_) {
    const auto& [agent, boot, pid, started] = key;
    out.text(agent);
    out.text(boot);
    out.signed_number(pid.value());
    out.signed_number(started.count());
    out.byte(static_cast<std::uint8_t>(process.state));
    out.byte(static_cast<std::uint8_t>(process.exit.kind));
    out.signed_number(process.exit.value);
    out.byte(static_cast<std::uint8_t>(process.exit.by));
    put_id(out, process.rank);
    out.text(process.node);
    put_time(out, process.since);
    put_time(out, process.due);
    out.byte(process.counted_stopped ? 1 : 0);
  }
  out.number(attempts_.size());
  for (const auto& [agent, attempt] : attempts_) {
    out.text(agent);
    out.signed_number(attempt);
  }
  out.number(alive_);
  out.number(stopped_);
  out.number(left_well_);
  out.signed_number(world_);
  put_time(out, all_left_);
  out.number(left_out_);
}

void ProcessBoard::load(ByteReader& in) {
  processes_.clear();
  waiting_.clear();
  for (std::size_t left = in.count(sizeof(std::uint64_t)); left > 0; --left) {
    std::string agent = in.text(), boot = in.text();
    const wire::Pid pid{static_cast<std::int32_t>(in.signed_number())};
    const std::chrono::microseconds started{in.signed_number()};
    Process& process = processes_[{std::move(agent), std::move(boot), pid, started}];
    process.state = get_enum(in, wire::ProcessState::gone);
    process.exit.kind = get_enum(in, wire::Exit::Kind::signal);
    process.exit.value = static_cast<std::int32_t>(in.signed_number());
    process.exit.by = get_enum(in, wire::Exit::Seen::pidfd);
    process.rank = get_id<Rank>(in);
    process.node = in.text();
    process.since = get_time(in);
    process.due = get_optional_time(in);
    process.counted_stopped = get_flag(in);
    if (process.due) waiting_.emplace(*process.due, &process);
  }
  attempts_.clear();
  for (std::size_t left = in.count(2); left > 0; --left) {
    std::string agent = in.text();
    attempts_[std::move(agent)] = static_cast<std::int32_t>(in.signed_number());
  }
  alive_ = in.number();
  stopped_ = in.number();
  left_well_ = in.number();
  world_ = static_cast<std::int32_t>(in.signed_number());
  all_left_ = get_optional_time(in);
  left_out_ = in.number();
}

void TellingLines::save(ByteWriter& out) const {
  out.number(agents_.size());
  for (const auto& [number, agent] : agents_) {
    out.number(number);
    out.number(agent.telling.size());
    for (const auto& [id, severity] : agent.telling) {
      out.number(id);
      out.byte(static_cast<std::uint8_t>(severity));
    }
    out.number(agent.finishing.size());
    for (const std::uint32_t id : agent.finishing) out.number(id);
  }
  out.number(known_.size());
  for (const auto& [id, known] : known_) {
    out.word(id.value());
    out.number(known.ticks);
    put_time(out, known.last);
  }
  for (const auto* speakers : {&ranks_, &finished_}) {
    out.number(speakers->size());
    for (const auto& [agent, rank] : *speakers) {
      out.number(agent);
      out.signed_number(rank);
    }
  }
  out.number(left_out_);
}

void TellingLines::load(ByteReader& in) {
  agents_.clear();
  for (std::size_t left = in.count(3); left > 0; --left) {
    Agent& agent = agents_[in.number32()];
    for (std::size_t more = in.count(2); more > 0; --more) {
      const std::uint32_t id = in.number32();
      agent.telling[id] = get_enum(in, detect::Severity::fatal);
    }
    for (std::size_t more = in.count(); more > 0; --more) agent.finishing.insert(in.number32());
  }
  known_.clear();
  for (std::size_t left = in.count(sizeof(std::uint64_t) + 2); left > 0; --left) {
    Known& known = known_[TemplateId{in.word()}];
    known.ticks = in.number();
    known.last = get_time(in);
  }
  for (auto* speakers : {&ranks_, &finished_}) {
    speakers->clear();
    for (std::size_t left = in.count(2); left > 0; --left) {
      const std::uint32_t agent = in.number32();
      speakers->emplace(agent, in.signed_number());
    }
  }
  left_out_ = in.number();
}

void JobWatch::save(ByteWriter& out) const {
  progress_.save(out);
  lines_.save(out);
  processes_.save(out);
  out.number(agents_.size());
  for (const auto& [name, agent] : agents_) {
    out.text(name);
    out.number(agent.number);
    put_time(out, agent.heard);
    put_time(out, agent.lost);
    out.signed_number(agent.largest.count());
    out.number(agent.gaps);
    out.byte(agent.told ? 1 : 0);
    put_time(out, agent.back);
    out.number(agent.ticks_at_loss);
    out.byte(agent.late ? 1 : 0);
  }
  put_time(out, evidence_);
  put_time(out, look_again_);
  put_time(out, left_);
  out.number(ticks_at_evidence_);
  out.number(ticks_at_left_);
}

void JobWatch::load(ByteReader& in) {
  progress_.load(in);
  lines_.load(in);
  processes_.load(in);
  agents_.clear();
  back_.clear();
  for (std::size_t left = in.count(10); left > 0; --left) {
    const std::string name = in.text();
    Agent& agent = agents_[name];
    agent.number = in.number32();
    agent.heard = get_optional_time(in);
    agent.lost = get_optional_time(in);
    agent.largest = Millis{in.signed_number()};
    agent.gaps = in.number32();
    agent.told = get_flag(in);
    agent.back = get_optional_time(in);
    if (agent.back) back_.insert(name);
    agent.ticks_at_loss = in.number();
    agent.late = get_flag(in);
  }
  evidence_ = get_optional_time(in);
  look_again_ = get_optional_time(in);
  left_ = get_optional_time(in);
  ticks_at_evidence_ = in.number();
  ticks_at_left_ = in.number();
}

}  // namespace l4::watch
