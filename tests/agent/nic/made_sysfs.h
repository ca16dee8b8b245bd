// A made tree of sysfs with network cards of which tests set the counters.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temp_folder.h"

namespace l4::nic::test {

namespace fs = std::filesystem;

class MadeSysfs {
 public:
  const fs::path& root() const { return folder_.path(); }

  /// A device of the PCI tree below `bridges` ("pci0000:3a/0000:3a:00.0"), with its driver.
  fs::path pci(const std::string& bridges, const std::string& address, const std::string& driver) {
    const fs::path device = root() / "devices" / bridges / address;
    fs::create_directories(device);
    const fs::path drivers = root() / "bus/pci/drivers" / driver;
    fs::create_directories(drivers);
    fs::create_directory_symlink(drivers, device / "driver");
    fs::create_directory_symlink(device, drivers / address);
    return device;
  }
  /// `hardware` empty: a virtual device.
  void ethernet(const std::string& name, const fs::path& hardware = {}) {
    const fs::path folder = root() / "class/net" / name;
    fs::create_directories(folder / "statistics");
    if (!hardware.empty()) fs::create_directory_symlink(hardware, folder / "device");
    set(name, "tx_bytes", 0);
    set(name, "rx_bytes", 0);
  }
  void infiniband(const std::string& name, const fs::path& hardware) {
    const fs::path folder = root() / "class/infiniband" / name;
    fs::create_directories(folder / "ports/1/counters");
    fs::create_directories(folder / "ports/1/hw_counters");
    fs::create_directory_symlink(hardware, folder / "device");
    write(folder / "ports/1/rate", "200 Gb/sec (4X HDR)");
    port(name, "counters/port_xmit_data", 0);
    port(name, "counters/port_rcv_data", 0);
  }
  void set(const std::string& name, const std::string& counter, std::uint64_t value) const {
    write(root() / "class/net" / name / "statistics" / counter, std::to_string(value));
  }
  void port(const std::string& name, const std::string& counter, std::uint64_t value) const {
    write(root() / "class/infiniband" / name / "ports/1" / counter, std::to_string(value));
  }
  void remove(const std::string& name) const { fs::remove_all(root() / "class/net" / name); }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream{path, std::ios::trunc} << text << '\n';
  }

 private:
  l4::test::TempFolder folder_;
};

}  // namespace l4::nic::test
