#include "agent/nic/devices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/agent/nic/made_sysfs.h"

namespace l4::nic {
namespace {

using test::MadeSysfs;
namespace fs = std::filesystem;

std::vector<std::string> names(const MadeSysfs& sysfs, const Choice& choice = {}) {
  std::vector<std::string> names;
  for (const auto& folder : find_devices(sysfs.root(), choice))
    names.push_back(open_device(sysfs.root(), folder).facts.name);
  return names;
}

TEST_CASE("nic devices: hardware is read, virtual devices only where they are named") {
  MadeSysfs sysfs;
  const auto card = sysfs.pci("pci0000:00", "0000:00:1f.6", "e1000e");
  sysfs.ethernet("eth0", card);
  sysfs.ethernet("lo");
  sysfs.ethernet("veth7");
  sysfs.infiniband("mlx5_0", sysfs.pci("pci0000:3a", "0000:3b:00.0", "mlx5_core"));
  CHECK(names(sysfs) == std::vector<std::string>{"mlx5_0/1", "eth0"});
  CHECK(names(sysfs, {{"veth7"}, {"mlx5_0"}}) == std::vector<std::string>{"eth0", "veth7"});
  CHECK(names(sysfs, {{}, {"eth0", "mlx5_0"}}).empty());
}

TEST_CASE("nic devices: facts of a port; counters by name of the driver, missing ones are none") {
  MadeSysfs sysfs;
  sysfs.infiniband("mlx5_0", sysfs.pci("pci0000:3a", "0000:3b:00.0", "mlx5_core"));
  sysfs.port("mlx5_0", "counters/symbol_error", 3);
  sysfs.port("mlx5_0", "hw_counters/packet_seq_err", 0);
  sysfs.port("mlx5_0", "hw_counters/np_cnp_sent", 0);
  sysfs.port("mlx5_0", "hw_counters/lifespan", 10);
  const Device port = open_device(sysfs.root(), find_devices(sysfs.root(), {}).front());
  CHECK(port.facts.kind == wire::NicKind::infiniband);
  CHECK(port.facts.driver == "mlx5_core");
  CHECK(port.facts.pci == "0000:3b:00.0");
  CHECK(port.facts.rate_mbps == 200'000);
  CHECK(port.unit == 4);
  std::vector<std::string> counters;
  for (const Counter& one : port.counters)
    counters.push_back(one.name + (one.weight == Weight::fault ? "!" : ""));
  CHECK(counters == std::vector<std::string>{"symbol_error!", "np_cnp_sent", "packet_seq_err!"});
  CHECK(port.counters[0].file.read() == 3);
}

TEST_CASE("nic devices: a counter is read anew through the same descriptor") {
  MadeSysfs sysfs;
  sysfs.ethernet("eth0", sysfs.pci("pci0000:00", "0000:00:1f.6", "e1000e"));
  const Device device = open_device(sysfs.root(), find_devices(sysfs.root(), {}).front());
  CHECK(device.sent.read() == 0);
  sysfs.set("eth0", "tx_bytes", 18'446'744'073'709'551'615U);
  CHECK(device.sent.read() == 18'446'744'073'709'551'615U);
  MadeSysfs::write(sysfs.root() / "class/net/eth0/statistics/tx_bytes", "no number");
  CHECK_FALSE(device.sent.read());
}

TEST_CASE("nic devices: the GPUs behind the same bridge are the nearest") {
  MadeSysfs sysfs;
  const std::string left = "pci0000:3a/0000:3a:00.0", right = "pci0000:3a/0000:3a:01.0";
  const auto card = sysfs.pci(left, "0000:3b:00.0", "mlx5_core");
  const auto far = sysfs.pci("pci0000:ff", "0000:ff:02.0", "mlx5_core");
  const auto between = sysfs.pci("pci0000:3a/0000:3a:02.0", "0000:3f:00.0", "mlx5_core");
  sysfs.pci(left, "0000:3c:00.0", "nvidia");
  sysfs.pci(left, "0000:3d:00.0", "nvidia");
  sysfs.pci(right, "0000:3e:00.0", "nvidia");
  sysfs.pci("pci0000:c0", "0000:c1:00.0", "nvidia");
  const auto gpus = find_gpus(sysfs.root());
  REQUIRE(gpus.size() == 4);
  CHECK(nearest_gpus(fs::canonical(card), gpus) == std::vector<std::int32_t>{0, 1});
  CHECK(nearest_gpus(fs::canonical(between), gpus) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(nearest_gpus(fs::canonical(far), gpus).empty());
  CHECK(nearest_gpus({}, gpus).empty());
}

}  // namespace
}  // namespace l4::nic
