// The processes that one agent reported for a job, each with its newest facts.
//
// Flow: JobState::apply puts facts here; aggregator/job/view.h assigns them to ranks. A process
// that is gone stays gone, so a repeated batch changes nothing. Bounded: exited processes are
// evicted first, oldest first, then helpers, then the process that has not changed for longest;
// each eviction is counted. Plain state, one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "common/base/byte_stream.h"
#include "common/wire/process_fact.h"

namespace l4::job {

class ProcessTable {
 public:
  void apply(const wire::ProcessFact& fact, std::size_t processes_max);

  std::size_t size() const { return facts_.size(); }
  std::uint64_t forgotten() const { return forgotten_; }
  /// Iterates by boot, number and start.
  auto begin() const { return facts_.begin(); }
  auto end() const { return facts_.end(); }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  using Key = std::tuple<std::string, wire::Pid, std::chrono::microseconds>;
  std::map<Key, wire::ProcessFact> facts_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace l4::job
