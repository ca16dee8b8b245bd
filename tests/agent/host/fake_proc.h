// A /proc tree in a temporary folder: processes with a state, an environment and open files.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agent/host/proc.h"
#include "tests/temp_folder.h"

namespace l4::host::test {

struct FakeProcess {
  int parent = 1;
  std::string command = "python3";
  char state = 'S';
  long start_ticks = 1000;  // 10 s after boot
  long cpu_ticks = 0;
  int exit_status = 0;
  std::vector<std::string> environment = {};
  std::vector<std::string> command_line = {};
  std::string cgroup = "0::/\n";
};

class FakeProc {
 public:
  FakeProc() { std::filesystem::create_directories(root()); }

  std::filesystem::path root() const { return folder_.path() / "proc"; }
  Proc proc() const { return Proc{root()}; }
  std::filesystem::path folder(int pid) const { return root() / std::to_string(pid); }

  void set(int pid, const FakeProcess& it) {
    std::filesystem::create_directories(folder(pid) / "fd");
    std::filesystem::create_directories(folder(pid) / "fdinfo");
    std::string stat = std::to_string(pid) + " (" + it.command + ") " + it.state + " " +
                       std::to_string(it.parent) + " 1 1 0 -1 0 0 0 0 0 " +
                       std::to_string(it.cpu_ticks) + " 0 0 0 20 0 1 0 " +
                       std::to_string(it.start_ticks);
    for (int field = 23; field < 52; ++field) stat += " 0";
    write(pid, "stat", stat + " " + std::to_string(it.exit_status) + "\n");
    write(pid, "environ", joined(it.environment));
    write(pid, "cmdline", joined(it.command_line));
    write(pid, "cgroup", it.cgroup);
  }
  void open(int pid, int descriptor, const std::filesystem::path& target,
            const std::string& flags = "0100001") {
    const std::string name = std::to_string(descriptor);
    std::filesystem::remove(folder(pid) / "fd" / name);
    std::filesystem::create_symlink(target, folder(pid) / "fd" / name);
    std::ofstream{folder(pid) / "fdinfo" / name} << "pos:\t0\nflags:\t" << flags << "\n";
  }
  void remove(int pid) { std::filesystem::remove_all(folder(pid)); }
  void write(int pid, const char* name, const std::string& content) {
    std::ofstream{folder(pid) / name, std::ios::binary} << content;
  }

  std::filesystem::path file(const std::string& name) { return folder_.file(name); }
  std::filesystem::path fifo(const std::string& name) {
    const auto path = folder_.path() / name;
    ::mkfifo(path.c_str(), 0600);
    return path;
  }

 private:
  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += word + '\0';
    return out;
  }
  l4::test::TempFolder folder_;
};

inline FileKey key_of(const std::filesystem::path& path) {
  struct stat status{};
  ::stat(path.c_str(), &status);
  return {status.st_dev, status.st_ino};
}

}  // namespace l4::host::test
