// The rank processes of a running job: which left, which are stopped, which wait for a device.
//
// Flow: JobWatch gives the facts of each batch and asks from time to time what is due. How a
// process left decides: by a signal or with another code than 0 counts at once; unseen counts two
// seconds later if others live on; with 0 a minute later. Stopped counts after three seconds, in
// the hands of a debugger after thirty, waiting for a device after `device_wait`. Agents number
// attempts each for itself: what belongs to an older one than its agent's newest counts no more.
// Times are the aggregator's. One thread. Bounds: 65,536 processes a job, some 200 B each; more are
// not watched, and counted.
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
  /// Triggers whose time has come: process_left, process_stopped, ended.
  std::vector<Trigger> due(TimeMs now);
  /// When due() may have something; none if it waits for nothing.
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
    TimeMs since;               ///< aggregator's clock
    std::optional<TimeMs> due;  ///< when its state counts
    bool counted_stopped = false;
  };
  /// Agent, boot, number, start.
  using Key = std::tuple<std::string, std::string, wire::Pid, std::chrono::microseconds>;

  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void drop(const std::string& agent);
  void put(Process& process, const wire::ProcessFact& fact, TimeMs arrival);
  std::optional<TimeMs> due_of(const Process& process) const;
  std::optional<Trigger> trigger_of(Process& process);

  Millis device_wait_;
  std::map<Key, Process> processes_;              // of the newest attempt
  std::multimap<TimeMs, Process*> waiting_;       // by `due`, and some that changed since
  std::map<std::string, std::int32_t> attempts_;  // newest, by agent
  std::size_t alive_ = 0, stopped_ = 0, left_well_ = 0;
  std::int32_t world_ = 0;
  std::optional<TimeMs> all_left_;
  std::uint64_t left_out_ = 0;
};

}  // namespace l4::watch
