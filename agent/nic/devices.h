// The network cards of this host, as sysfs shows them: InfiniBand and RoCE ports, Ethernet devices.
//
// Flow: nic_watch.h looks for devices at times and opens the counters of new ones. Ports of
// /sys/class/infiniband count in `counters` and `hw_counters` (names differ by driver; what is
// missing is no error); /sys/class/net counts in `statistics`. Devices without hardware behind them
// (loopback, bridges, tunnels, veth) are left out unless they are named. Reads the file system
// below a root that tests replace; no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/nic/sysfs_file.h"
#include "common/wire/nics.h"

namespace l4::nic {

/// What a counter that rises says of its card.
enum class Weight : std::uint8_t {
  fault,       ///< the link or the card: at once
  congestion,  ///< pauses, waits, drops: rise in healthy jobs, too
};

struct Counter {
  std::string name;
  Weight weight = Weight::fault;
  SysfsFile file;
};

struct Device {
  wire::NicDefinition facts;       ///< without id, node and ranks
  std::filesystem::path folder;    ///< of its counters
  std::filesystem::path hardware;  ///< resolved folder of its PCI device; empty: none
  std::uint64_t unit = 1;          ///< bytes a count of the data counters
  SysfsFile sent, received;
  std::vector<Counter> counters;
};

struct Choice {
  std::vector<std::string> include;  ///< devices that are read although nothing is behind them
  std::vector<std::string> exclude;  ///< devices that are not read
};

/// The folders of the chosen devices, sorted; opens nothing else.
std::vector<std::filesystem::path> find_devices(const std::filesystem::path& root,
                                                const Choice& choice);
/// Opens the counters of such a folder. `sent` is not open if it has no data counters.
Device open_device(const std::filesystem::path& root, const std::filesystem::path& folder);

/// The GPUs of the host by PCI address, resolved folders: number k is taken for local rank k.
std::vector<std::filesystem::path> find_gpus(const std::filesystem::path& root);
/// Of `gpus`, those that share the longest path of bridges with the card, if it is more than the
/// root of the tree; empty where that does not set any apart.
std::vector<std::int32_t> nearest_gpus(const std::filesystem::path& card,
                                       const std::vector<std::filesystem::path>& gpus);

}  // namespace l4::nic
