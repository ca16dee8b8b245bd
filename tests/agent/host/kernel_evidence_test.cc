#include "agent/host/kernel_evidence.h"

#include <doctest/doctest.h>

namespace l4::host {
namespace {

using K = KernelKind;

struct EvidenceRow {
  const char* text;
  KernelKind kind;
  int pid = 0;  // 0: none
  const char* command = "";
  int code = -1;
  const char* device = "";
  const char* cgroup = "";
  bool corrected = false;
};

const EvidenceRow kEvidenceRows[] = {
    {"NVRM: Xid (PCI:0000:3b:00): 79, pid=2211, name=python3, GPU has fallen off the bus.", K::xid,
     2211, "python3", 79, "0000:3b:00"},
    {"NVRM: Xid (PCI:0000:d1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
     K::xid, 0, "", 79, "0000:d1:00"},
    {"NVRM: Xid (PCI:0000:3b:00): 13, pid='2211', name=python, Graphics Exception", K::xid, 2211,
     "python", 13, "0000:3b:00"},
    {"NVRM: Xid (PCI:0000:9b:00): 48, An uncorrectable double bit error (DBE)", K::xid, 0, "", 48,
     "0000:9b:00"},
    {"NVRM: Xid (PCI:0000:3b:00 GPU-I:02): 31, pid=99, name=x, Ch 00000008", K::xid, 99, "x", 31,
     "0000:3b:00"},
    {"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress", K::sxid, 0, "",
     12028, "0000:c1:00.0"},
    {"NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", K::gpu, 0, "", -1, "0000:3b:00.0"},
    {"amdgpu 0000:03:00.0: amdgpu: Process information: process python3 pid 2211 thread x pid 2215",
     K::gpu, 2211, "python3", -1, "0000:03:00.0"},
    {"Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB", K::oom_kill, 4711,
     "python3"},
    {"Memory cgroup out of memory: Killed process 4711 (pt_main (x)) total-vm:1kB", K::oom_kill,
     4711, "pt_main (x)"},
    {"Out of memory: Kill process 12 (python) score 900 or sacrifice child", K::oom_kill, 12,
     "python"},
    {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/j,"
     "task_memcg=/j/step_0,task=a,pid=3,pid=4711,uid=0",
     K::oom_kill, 4711, "a,pid=3", -1, "", "/j/step_0"},
    {"oom_reaper: reaped process 4711 (python3), now anon-rss:0kB", K::oom_kill, 4711, "python3"},
    {"python3 invoked oom-killer: gfp_mask=0xcc0, order=0", K::oom, 0, "python3"},
    {"mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 7: dc00000000010090", K::machine_check},
    {"{1}[Hardware Error]: event severity: corrected", K::machine_check, 0, "", -1, "", "", true},
    {"mce: Uncorrected hardware memory error in user-access at 1f", K::machine_check},
    {"EDAC MC0: 1 CE memory read error on CPU_SrcID#0", K::machine_check, 0, "", -1, "", "", true},
    {"Memory failure: 0x12: Killing py:x:2211 due to hardware memory corruption", K::machine_check,
     2211, "py:x"},
    {"pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:01:00.0", K::pcie, 0, "",
     -1, "0000:00:01.0"},
    {"pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0", K::pcie, 0, "", -1,
     "0000:00:01.0", "", true},
    {"pciehp 0000:00:01.0:pcie004: Slot(4): Link Down", K::pcie},
    {"mlx5_core 0000:65:00.0 eth2: Link down", K::link_down, 0, "", -1, "eth2"},
    {"ixgbe 0000:01:00.0 ens1f0: NIC Link is Down", K::link_down, 0, "", -1, "ens1f0"},
    {"bond0: (slave eth0): link status definitely down, disabling slave", K::link_down, 0, "", -1,
     "bond0"},
    {"br0: port 1(p0) entered disabled state", K::link_down, 0, "", -1, "p0"},
    {"mlx5_core 0000:17:00.0: Port module event: module 0, Cable unplugged", K::link_down, 0, "",
     -1, "0000:17:00.0"},
    {"mlx5_core 0000:65:00.0 eth2: Link up", K::link_up, 0, "", -1, "eth2"},
    {"nvme nvme0: I/O 123 QID 4 timeout, reset controller", K::disk, 0, "", -1, "nvme0"},
    {"nvme nvme1: controller is down; will reset: CSTS=0xffffffff", K::disk, 0, "", -1, "nvme1"},
    {"blk_update_request: I/O error, dev nvme0n1, sector 1234", K::disk, 0, "", -1, "nvme0n1"},
    {"I/O error, dev sda, sector 12 op 0x0:(READ)", K::disk},
    {"EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm python3: reading",
     K::file_system, 0, "python3", -1, "sda1"},
    {"EXT4-fs (sda1): Remounting filesystem read-only", K::file_system, 0, "", -1, "sda1"},
    {"XFS (dm-0): Metadata I/O Error: block 0x12", K::file_system, 0, "", -1, "dm-0"},
    {"nfs: server 10.0.0.9 not responding, still trying", K::network_storage, 0, "", -1,
     "10.0.0.9"},
    {"nfs: server 10.0.0.9 OK", K::storage_back, 0, "", -1, "10.0.0.9"},
    {"LustreError: 2211:0:(osc_request.c:1) operation failed", K::network_storage, 2211},
    {"LustreError: 11-0: lfs-MDT0000: operation failed", K::network_storage},
    {"Lustre: lfs-OST0001: Connection to lfs-OST0001 (at 10.0.0.9@o2ib) was lost",
     K::network_storage},
    {"Lustre: lfs-OST0001: Connection restored to 10.0.0.9@o2ib", K::storage_back},
    {"INFO: task python3:2211 blocked for more than 120 seconds.", K::hung_task, 2211, "python3"},
    {"watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [python3:2211]", K::lockup, 2211,
     "python3"},
    {"python3[2211]: segfault at 0 ip 00007f sp 00007f error 4 in libc.so.6[7f+1]", K::fault, 2211,
     "python3"},
    {"traps: python3[2211] general protection fault ip:7f sp:7f error:0", K::fault, 2211,
     "python3"},
    {"Kernel panic - not syncing: Fatal exception", K::panic},
    {"CPU12: Core temperature above threshold, cpu clock throttled", K::thermal},
};

TEST_CASE("kernel evidence: what messages say") {
  for (const EvidenceRow& row : kEvidenceRows) {
    CAPTURE(row.text);
    const auto found = read_evidence(row.text);
    REQUIRE(found);
    CHECK(name(found->kind) == name(row.kind));
    CHECK(found->pid.value_or(Pid{0}).value() == row.pid);
    CHECK(found->command == row.command);
    CHECK(found->code.value_or(-1) == row.code);
    CHECK(found->device == row.device);
    CHECK(found->cgroup == row.cgroup);
    CHECK(found->corrected == row.corrected);
  }
}

TEST_CASE("kernel evidence: ordinary messages are none") {
  for (const char* text :
       {"", "eth0: renamed from veth12", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module",
        "nvme nvme0: 8/0/0 default/read/poll queues", "EXT4-fs (sda1): mounted filesystem",
        "XFS (dm-0): Ending clean mount", "oom_kill_process", "ata1: SATA link down (SStatus 0)",
        "IPv6: ADDRCONF(NETDEV_UP): eth0: link is not ready", "NFS: Registering the id_resolver",
        "python3 (2211): drop_caches: 3", "pcieport 0000:00:01.0: AER: enabled with IRQ 26",
        "Lustre: Lustre: Build Version: 2.15", "systemd[1]: Started Session 3 of User root."})
    CHECK_MESSAGE(!read_evidence(text), text);
}

TEST_CASE("kernel evidence: cut and hostile messages break nothing") {
  for (const EvidenceRow& row : kEvidenceRows) {
    const std::string whole = row.text;
    for (std::size_t length = 0; length <= whole.size(); ++length)
      read_evidence(whole.substr(0, length));
  }
  const auto found = read_evidence("Out of memory: Killed process 99999999999 (" +
                                   std::string(5000, 'x') + ") total-vm");
  REQUIRE(found);
  CHECK_FALSE(found->pid);
  CHECK(found->command.size() == 128);
}

}  // namespace
}  // namespace l4::host
