#include "agent/nic/devices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace l4::nic {
namespace {

namespace fs = std::filesystem;

/// Counters of InfiniBand and RoCE ports that only rise when something is wrong with the link or
/// with what it carries (kernel: Documentation/ABI/stable/sysfs-class-infiniband; mlx5, bnxt_re,
/// irdma, efa, hns name theirs so).
constexpr std::array<std::string_view, 31> kFaults{
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "out_of_sequence",
    "packet_seq_err",
    "local_ack_timeout_err",
    "implied_nak_seq_err",
    "rnr_nak_retry_err",
    "req_cqe_error",
    "resp_cqe_error",
    "req_remote_access_errors",
    "req_remote_invalid_request",
    "resp_local_length_error",
    "rx_icrc_encapsulated",
    "max_retry_exceeded",
    "unrecoverable_err",
    "bad_resp_err",
    "to_retransmits",
    "rx_errors",
    "tx_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_length_errors",
    "tx_carrier_errors",
    "tx_aborted_errors",
    "carrier_changes",
    "retrans_timeout_events",
};
constexpr std::array<std::string_view, 19> kCongestion{
    "port_xmit_wait",
    "port_xmit_discards",
    "np_cnp_sent",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "roce_adp_retrans",
    "roce_slow_restart",
    "duplicate_request",
    "rx_dropped",
    "tx_dropped",
    "rx_missed_errors",
    "rx_fifo_errors",
    "rx_over_errors",
    "rx_prio0_pause",
    "rx_prio3_pause",
    "rx_prio4_pause",
    "tx_pause_ctrl_phy",
    "rx_pause_ctrl_phy",
    "out_of_buffer",
};

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    found.push_back(at->path());
  std::ranges::sort(found);
  return found;
}

fs::path resolved(const fs::path& path) {
  std::error_code failed;
  fs::path found = fs::canonical(path, failed);
  return failed ? fs::path() : found;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void add_counters(const fs::path& folder, Device& to) {
  for (const fs::path& path : entries(folder)) {
    const std::string name = path.filename();
    const bool fault = std::ranges::find(kFaults, name) != kFaults.end();
    if (!fault && std::ranges::find(kCongestion, name) == kCongestion.end()) continue;
    Counter counter{name, fault ? Weight::fault : Weight::congestion, SysfsFile(path)};
    if (counter.file.is_open()) to.counters.push_back(std::move(counter));
  }
}

/// "25 Gb/sec (1X EDR)", or a number of Mb/s; 0 where there is none.
std::uint32_t rate_of(const std::string& text, double mbps) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value > 0 && value < 1e9 ? static_cast<std::uint32_t>(value * mbps) : 0;
}

void add_hardware(const fs::path& device, Device& to) {
  to.hardware = resolved(device);
  if (to.hardware.empty()) return;
  const std::string address = to.hardware.filename();
  // 0000:3b:00.0; virtio and others have another name.
  if (std::ranges::count(address, ':') == 2) to.facts.pci = address;
  to.facts.driver = resolved(device / "driver").filename();
}

Device open_port(const fs::path& folder) {
  const fs::path device = folder.parent_path().parent_path();  // DEVICE/ports/PORT
  Device port;
  port.folder = folder;
  port.unit = 4;  // port_xmit_data counts octets / 4
  port.facts.kind = wire::NicKind::infiniband;
  port.facts.name = device.filename().string() + "/" + folder.filename().string();
  port.facts.rate_mbps = rate_of(text_of(folder / "rate"), 1000);
  add_hardware(device / "device", port);
  port.sent = SysfsFile(folder / "counters" / "port_xmit_data");
  port.received = SysfsFile(folder / "counters" / "port_rcv_data");
  add_counters(folder / "counters", port);
  add_counters(folder / "hw_counters", port);
  return port;
}

Device open_ethernet(const fs::path& folder) {
  Device device;
  device.folder = folder;
  device.facts.name = folder.filename();
  device.facts.rate_mbps = rate_of(text_of(folder / "speed"), 1);
  add_hardware(folder / "device", device);
  device.sent = SysfsFile(folder / "statistics" / "tx_bytes");
  device.received = SysfsFile(folder / "statistics" / "rx_bytes");
  add_counters(folder / "statistics", device);
  add_counters(folder, device);  // carrier_changes
  return device;
}

std::size_t common_depth(const fs::path& one, const fs::path& other) {
  return static_cast<std::size_t>(
      std::distance(one.begin(), std::ranges::mismatch(one, other).in1));
}

}  // namespace

std::vector<fs::path> find_devices(const fs::path& root, const Choice& choice) {
  std::vector<fs::path> found;
  for (const fs::path& device : entries(root / "class" / "infiniband")) {
    if (has(choice.exclude, device.filename())) continue;
    std::ranges::move(entries(device / "ports"), std::back_inserter(found));
  }
  for (const fs::path& device : entries(root / "class" / "net")) {
    const std::string name = device.filename();
    std::error_code failed;
    const bool real = fs::exists(device / "device", failed);
    if (has(choice.exclude, name) || !(real || has(choice.include, name))) continue;
    found.push_back(device);
  }
  return found;
}

Device open_device(const fs::path& root, const fs::path& folder) {
  const fs::path in = folder.lexically_relative(root / "class");
  return *in.begin() == "infiniband" ? open_port(folder) : open_ethernet(folder);
}

std::vector<fs::path> find_gpus(const fs::path& root) {
  std::vector<fs::path> gpus;
  for (const char* driver : {"nvidia", "amdgpu"})
    for (const fs::path& entry : entries(root / "bus" / "pci" / "drivers" / driver))
      if (std::ranges::count(entry.filename().string(), ':') == 2) gpus.push_back(resolved(entry));
  std::erase_if(gpus, [](const fs::path& gpu) { return gpu.empty(); });
  std::ranges::sort(gpus, {}, [](const fs::path& gpu) { return gpu.filename().string(); });
  return gpus;
}

std::vector<std::int32_t> nearest_gpus(const fs::path& card, const std::vector<fs::path>& gpus) {
  std::vector<std::int32_t> nearest;
  if (card.empty()) return nearest;
  // The path leads from the root complex (pci0000:3a) over bridges to the device.
  const auto is_complex = [](const fs::path& part) {
    return part.string().starts_with("pci") && part.string().size() > 3;
  };
  const auto complex = std::ranges::find_if(card, is_complex);
  const auto root = static_cast<std::size_t>(std::distance(card.begin(), complex));
  std::size_t best = root + 1;  // the same root complex at least
  for (std::size_t k = 0; k < gpus.size(); ++k) {
    const std::size_t depth = common_depth(card, gpus[k]);
    if (depth < best || (depth == best && nearest.empty() && depth <= root)) continue;
    if (depth > best) nearest.clear();
    best = depth;
    nearest.push_back(static_cast<std::int32_t>(k));
  }
  if (nearest.size() > wire::kNicLocalRanksMax) nearest.clear();
  return nearest;
}

}  // namespace l4::nic
