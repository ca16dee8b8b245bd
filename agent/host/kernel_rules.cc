#include "agent/host/kernel_rules.h"

#include <array>

namespace l4::host {
namespace {

using K = KernelKind;

constexpr std::array kRules{
    KernelRule{K::sxid, "SXid (", "): "},
    KernelRule{K::xid, "NVRM: Xid (", "): "},
    KernelRule{K::gpu, "NVRM: ", "has fallen off the bus"},
    KernelRule{K::gpu, "NVRM: ", "rm_init_adapter failed"},
    KernelRule{K::gpu, "NVRM: ", "RmInitAdapter failed"},
    KernelRule{K::gpu, "amdgpu", "ring ", "test passed"},
    KernelRule{K::gpu, "amdgpu", "GPU reset begin"},
    KernelRule{K::gpu, "amdgpu", "page fault"},
    KernelRule{K::gpu, "amdgpu", "uncorrectable"},
    KernelRule{K::gpu, "amdgpu", "Process information: process "},
    KernelRule{K::gpu, "habanalabs", "error"},
    KernelRule{K::gpu, "habanalabs", "reset"},

    KernelRule{K::oom_kill, "oom-kill:", "pid=", "", true},
    KernelRule{K::oom_kill, "ut of memory", "Kill"},
    KernelRule{K::oom_kill, "Killed process ", "total-vm"},
    KernelRule{K::oom_kill, "oom_reaper: reaped process "},
    KernelRule{K::oom, " invoked oom-killer"},
    KernelRule{K::oom, "Tasks in ", "killed as a result of limit of"},

    KernelRule{K::machine_check, "due to hardware memory corruption"},
    KernelRule{K::machine_check, "[Hardware Error]", "", "AER"},
    KernelRule{K::machine_check, "Machine check events logged"},
    KernelRule{K::machine_check, "mce: ", "Uncorrected"},
    KernelRule{K::machine_check, "EDAC ", " CE ", ""},
    KernelRule{K::machine_check, "EDAC ", " UE ", ""},
    KernelRule{K::machine_check, "Memory failure: "},
    KernelRule{K::thermal, "temperature above threshold"},
    KernelRule{K::thermal, "Power Brake"},

    KernelRule{K::pcie, "AER: ", "error"},
    KernelRule{K::pcie, "pcieport", "DPC: containment event"},
    KernelRule{K::pcie, "pciehp", "Link Down"},
    KernelRule{K::pcie, "pciehp", "Card not present"},
    KernelRule{K::pcie, "PCIe Bus Error"},

    KernelRule{K::link_down, "Link is Down"},
    KernelRule{K::link_down, "Link is down"},
    KernelRule{K::link_down, "Link down"},
    KernelRule{K::link_down, "Link DOWN"},
    KernelRule{K::link_down, "link down", "", "SATA"},
    KernelRule{K::link_down, "link is down"},
    KernelRule{K::link_down, "link status definitely down"},
    KernelRule{K::link_down, "Lost carrier"},
    KernelRule{K::link_down, "lost carrier"},
    KernelRule{K::link_down, "entered disabled state"},
    KernelRule{K::link_down, "Cable unplugged"},
    KernelRule{K::link_down, "NETDEV WATCHDOG", "timed out"},
    KernelRule{K::link_up, "Link is Up"},
    KernelRule{K::link_up, "Link is up"},
    KernelRule{K::link_up, "Link up"},
    KernelRule{K::link_up, "Link UP"},
    KernelRule{K::link_up, "link up", "", "SATA"},
    KernelRule{K::link_up, "link becomes ready"},
    KernelRule{K::link_up, "link status definitely up"},
    KernelRule{K::link_up, "entered forwarding state"},
    KernelRule{K::link_up, "Cable plugged"},

    KernelRule{K::network_storage, "nfs: server ", " not responding"},
    KernelRule{K::storage_back, "nfs: server ", " OK"},
    KernelRule{K::network_storage, "NFS: ", "failed"},
    KernelRule{K::network_storage, "NFS: ", "error"},
    KernelRule{K::storage_back, "Lustre: ", "Connection restored"},
    KernelRule{K::network_storage, "LustreError: "},
    KernelRule{K::network_storage, "Lustre: ", "was lost"},
    KernelRule{K::network_storage, "Lustre: ", "timed out"},
    KernelRule{K::network_storage, "ceph: ", "hung"},
    KernelRule{K::network_storage, "libceph: ", "connect error"},
    KernelRule{K::network_storage, "libceph: ", "socket closed"},
    KernelRule{K::network_storage, "libceph: ", "socket error"},
    KernelRule{K::network_storage, "beegfs: ", "error"},
    KernelRule{K::network_storage, "CIFS: ", "has not responded"},

    KernelRule{K::file_system, "EXT4-fs error"},
    KernelRule{K::file_system, "EXT4-fs", "Remounting filesystem read-only"},
    KernelRule{K::file_system, "EXT4-fs", "failed to convert unwritten"},
    KernelRule{K::file_system, "EXT4-fs warning"},
    KernelRule{K::file_system, "JBD2: ", "error"},
    KernelRule{K::file_system, "Aborting journal"},
    KernelRule{K::file_system, "XFS (", "rror"},
    KernelRule{K::file_system, "XFS (", "orruption"},
    KernelRule{K::file_system, "XFS (", "shut down"},
    KernelRule{K::file_system, "XFS (", "hutting down"},
    KernelRule{K::file_system, "XFS: ", "possible memory allocation deadlock"},
    KernelRule{K::file_system, "BTRFS", "error"},

    KernelRule{K::disk, "nvme", "timeout"},
    KernelRule{K::disk, "nvme", "controller is down"},
    KernelRule{K::disk, "nvme", "Removing after"},
    KernelRule{K::disk, "nvme", "frozen state error"},
    KernelRule{K::disk, "I/O error"},
    KernelRule{K::disk, "critical medium error"},
    KernelRule{K::disk, "critical target error"},

    KernelRule{K::hung_task, "INFO: task ", "blocked for more than"},
    KernelRule{K::lockup, "soft lockup"},
    KernelRule{K::lockup, "hard LOCKUP"},
    KernelRule{K::lockup, "detected stall"},
    KernelRule{K::lockup, "self-detected stall"},
    KernelRule{K::fault, "]: segfault at "},
    KernelRule{K::fault, "traps: ", "["},
    KernelRule{K::fault, "]: unhandled ", ""},
    KernelRule{K::panic, "Kernel panic"},
    KernelRule{K::panic, "BUG: "},
    KernelRule{K::panic, "kernel BUG at"},
    KernelRule{K::panic, "Oops: "},
};

}  // namespace

std::span<const KernelRule> kernel_rules() {
  return kRules;
}

}  // namespace l4::host
