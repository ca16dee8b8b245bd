// What a kernel message is evidence of: which kind of trouble, which process, which device.
//
// Flow: KernelLog -> read_evidence -> the agent, which asks ProcessWatch whose the pid is: of a
// watched one it counts for that rank, else for the host alone. The message itself also goes the
// way of all lines; this is what detectors may use without a template. Rules stand in one table in
// kernel_rules.cc. Pure; texts are at most 128 bytes. Of user space's messages none is evidence.
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
  gpu,            ///< another accelerator's fault, or one without a number
  oom_kill,       ///< the OOM killer took a process
  oom,            ///< ... was called, by whom
  machine_check,  ///< CPU, memory, bus: corrected or not
  pcie,           ///< PCIe errors, surprise removal
  link_down,
  link_up,
  disk,             ///< NVMe, block devices
  file_system,      ///< EXT4, XFS, btrfs, JBD2
  network_storage,  ///< NFS, Lustre, CephFS, BeeGFS: does not answer
  storage_back,     ///< ... answers again
  hung_task,        ///< a task is blocked for minutes
  lockup,           ///< a CPU does not come back
  fault,            ///< a process was killed by a trap: segfault, protection fault
  panic,            ///< the kernel itself
  thermal,          ///< throttled
};

struct KernelEvidence {
  KernelKind kind = KernelKind::panic;
  std::optional<Pid> pid;
  std::string command;
  std::optional<std::int32_t> code;
  std::string device;  ///< PCI address, interface, disk, server
  std::string cgroup;  ///< oom_kill: of the process that was killed
  bool corrected = false;
};

std::string_view name(KernelKind kind);
std::optional<KernelEvidence> read_evidence(std::string_view text);

}  // namespace l4::host
