// The rank processes of a running job: which left, which are stopped, which wait for a device.
//
// Flow: JobWatch passes on the facts of each batch and polls for triggers. An exit by a signal or
// with a code other than 0 triggers at once. An exit whose status was not seen triggers two seconds
// later if other ranks live on, an exit with 0 a minute later. A stopped process triggers after
// three seconds, a debugged one after thirty, one that waits for a device after `device_wait`. Each
// agent numbers attempts for itself; processes of an attempt older than its agent's newest no
// longer count. Times are the aggregator's. One thread. Bounds: 65,536 processes a job, some 200 B
// each; further processes are counted and not watched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "aggregator/watch/trigger.h"
#include "common/base/byte_stream.h"
#include "common/wire/process_fact.h"

namespace l4::watch {

class ProcessBoard {
 public:
  explicit ProcessBoard(Millis device_wait) : device_wait_(device_wait) {}

  /// True if the facts begin another attempt.
  bool applied(const std::string& agent, const std::vector<wire::ProcessFact>& facts,
               TimeMs arrival);
  /// Triggers that are due: process_left, process_stopped, ended.
  std::vector<Trigger> due(TimeMs now);
  /// Earliest time at which due() may give a trigger; empty if nothing is pending.
  std::optional<TimeMs> next() const;

  bool any_stopped() const { return stopped_ > 0; }
  std::size_t alive() const { return alive_; }
  std::uint64_t left_out() const { return left_out_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Process {
    wire::ProcessState state = wire::ProcessState::unknown;
    wire::Exit exit;
    std::optional<Rank> rank;
    std::string node;
    TimeMs since;               ///< begin of its state, by the aggregator's clock
    std::optional<TimeMs> due;  ///< when its state counts
    bool counted_stopped = false;
  };
  /// Agent, boot, number, start.
  using Key = std::tuple<std::string, std::string, wire::Pid, std::chrono::microseconds>;

  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void drop(const std::string& agent);
  void apply(Process& process, const wire::ProcessFact& fact, TimeMs arrival);
  std::optional<TimeMs> due_of(const Process& process) const;
  std::optional<Trigger> trigger_of(Process& process);

  Millis device_wait_;
  std::map<Key, Process> processes_;         // those of the newest attempt
  std::multimap<TimeMs, Process*> waiting_;  // by `due`; entries that changed since are skipped
  std::map<std::string, std::int32_t> attempts_;  // newest, by agent
  std::size_t alive_ = 0, stopped_ = 0, left_well_ = 0;
  std::int32_t world_ = 0;
  std::optional<TimeMs> all_left_;
  std::uint64_t left_out_ = 0;
};

}  // namespace l4::watch
