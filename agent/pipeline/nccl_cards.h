// Which network cards the ranks of a job use, by what NCCL prints when it starts.
//
// Place in the flow: JobPipeline hands it the lines that begin with "NCCL INFO"; NicReporter asks
// it for the cards of its node. NCCL_DEBUG=INFO prints each process's devices by number,
//   NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>
//   NET/Socket : Using [0]eth0:10.0.0.1<0>
// devices that it joins to one (`[2]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}`, or
// `NET/IB : Made virtual device [2] name=mlx5_0+mlx5_1`), and of each connection the number:
//   Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/0/GDRDMA
// Forms of NCCL 2.7 to 2.2x and of RCCL; connections by another process's card (`NET/IB/0(2)`) are
// left out, and so are plugins that list no devices. Ranks of these lines count within a
// communicator: who speaks is known from the log. A process that lists its devices again has begun
// anew. Bounds: kHostsMax nodes, kUsersMax ranks of each, kDevicesMax devices. One a job, one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire/definitions.h"

namespace l4::pipeline {

class NcclCards {
 public:
  static constexpr std::size_t kHostsMax = 1024, kUsersMax = 64, kDevicesMax = 64;

  /// Ranks whose lines name a card, ascending.
  struct Users {
    std::vector<std::int32_t> ranks, local_ranks;
    bool empty() const { return ranks.empty() && local_ranks.empty(); }
  };

  /// Whether a line may tell of cards: most lines are answered by their first letter.
  static bool may_tell(std::string_view text) { return text.starts_with("NCCL INFO "); }
  /// Takes such a line in. `source`: who printed it, of whom the rank of the job is known, or its
  /// rank on the node, or the number of its GPU.
  void add(std::string_view text, const wire::SourceDefinition& source,
           std::optional<std::int32_t> device);

  /// Who uses the card of the node; `card` as agent/nic names it: "mlx5_0/1", "eth0". Names of
  /// nodes may differ behind their first dot.
  Users users(std::string_view node, std::string_view card) const;
  /// Grows with each change.
  std::uint64_t version() const { return version_; }

 private:
  /// Cards of one number: more than one where NCCL joins them.
  using Devices = std::map<std::uint32_t, std::vector<std::string>>;
  struct User {
    std::int32_t rank = -1, local_rank = -1;
    auto operator<=>(const User&) const = default;
  };
  struct Host {
    std::map<std::string, Devices, std::less<>> devices;  ///< by transport: "IB", "Socket"
    std::map<User, std::set<std::string>> cards;
  };

  Host* host_of(std::string_view node);
  void list(std::string_view transport, std::string_view text, Host& host,
            const std::optional<User>& user);
  static void join(std::string_view text, Host& host);
  void connect(std::string_view text, Host& host, const User& user);

  std::map<std::string, Host, std::less<>> hosts_;  ///< by their names up to the first dot
  std::uint64_t version_ = 0;
};

}  // namespace l4::pipeline
