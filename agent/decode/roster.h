// The ranks of processes, as a launcher lists them at the start of a job.
//
// Ray names a process by its id and address alone, `(RayTrainWorker pid=7410, ip=10.0.0.3)`, and
// Ray Train prints once which rank each of them is: `- (node_id=.., ip=10.0.0.3, pid=7410)
// world_rank=4, local_rank=0, node_rank=1`. The decoder of a file keeps what its lines have listed
// and asks at every later line of such a process. One per file, one thread; beyond kProcessesMax
// further processes are not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/ids.h"

namespace l4::decode {

class Roster {
 public:
  static constexpr std::size_t kProcessesMax = 16'384;

  /// Takes a line in, if it is a row of such a list.
  void note(std::string_view line);
  /// `host` is empty where the line does not name it: for processes of the driver's own host.
  std::optional<Rank> rank_of(std::int64_t pid, std::string_view host) const;

 private:
  struct Member {
    std::string host;
    Rank rank;
  };
  std::unordered_multimap<std::int64_t, Member> members_;  // by process id
};

}  // namespace l4::decode
