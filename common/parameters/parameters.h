// Typed values of one raw message: the ranks, hosts, devices, codes and paths that it names.
//
// Flow: agent/segment calls this for speaking templates only (rare lines), aggregator/faults for a
// pattern's conditions. Thread-safe, no state, no regex. Bounds: at most 16 distinct values of at
// most 128 bytes, in order of appearance; the rest is left out. Forms:
//   rank "5" (never local, node or group ranks), host "node-03", address "10.0.0.7" (port split
//   off, ::ffff: removed), device "PCI:0000:65:02.0", "mlx5_2:1", "cuda:3", "GPU 3", "device 5",
//   "nvme0n1", "local rank 1" (only if blamed), code "Xid 79", "SXid 12028", "EI0002", "HTTP 503",
//   "error 12" and those of npu_codes.h, errno_value "28", signal "SIGKILL", exit_code "-9", path
//   "/a/b", duration_ms "30000".
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/wire/batch.h"

namespace l4::parameters {

inline constexpr std::size_t kParametersMax = 16;

/// Replaces the content of `out`.
void extract(std::string_view message, std::vector<wire::Parameter>& out);
/// Of `details`, the lines below the message, only what they blame (blame.h) is taken.
void extract(std::string_view message, std::string_view details, std::vector<wire::Parameter>& out);

}  // namespace l4::parameters
