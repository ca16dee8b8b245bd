// The evidence in a kernel message: kind of trouble, process, device.
//
// Flow: KernelLog -> read_evidence -> the agent, which asks ProcessWatch for the pid: if the
// process is watched the evidence counts for its rank, else for the host alone. The message itself
// is also shipped as a line; detectors may use the evidence without a template. The rules are one
// table in kernel_rules.cc. Pure; texts are at most 128 bytes. Messages of user space are never
// evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/host/facts.h"

namespace l4::host {

enum class KernelKind : std::uint8_t {
  xid,            ///< NVIDIA driver, code = number
  sxid,           ///< NVSwitch, code = number
  gpu,            ///< fault of another accelerator, or one without a number
  oom_kill,       ///< the OOM killer killed a process
  oom,            ///< a process called the OOM killer
  machine_check,  ///< CPU, memory, bus: corrected or not
  pcie,           ///< PCIe errors, surprise removal
  link_down,
  link_up,
  disk,             ///< NVMe, block devices
  file_system,      ///< EXT4, XFS, btrfs, JBD2
  network_storage,  ///< NFS, Lustre, CephFS, BeeGFS do not answer
  storage_back,     ///< network storage answers again
  hung_task,        ///< a task is blocked for minutes
  lockup,           ///< a CPU does not come back
  fault,            ///< a process was killed by a trap: segfault, protection fault
  panic,            ///< the kernel itself failed
  thermal,          ///< throttled
};

struct KernelEvidence {
  KernelKind kind = KernelKind::panic;
  std::optional<Pid> pid;
  std::string command;
  std::optional<std::int32_t> code;
  std::string device;  ///< PCI address, interface, disk, server
  std::string cgroup;  ///< oom_kill: cgroup of the killed process
  bool corrected = false;
};

std::string_view name(KernelKind kind);
std::optional<KernelEvidence> read_evidence(std::string_view text);

}  // namespace l4::host
