#include "tools/fleet/aggregator_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

namespace l4::fleet {
namespace {

constexpr int kStatFields = 24;
constexpr Millis kStopMost{20'000}, kLook{20};

Error failed(const std::string& what, int error) {
  return {what, std::generic_category().message(error)};
}

}  // namespace

std::optional<Usage> usage_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const auto name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::array<std::string, kStatFields + 1> field;
  for (std::size_t i = 3; i <= kStatFields; ++i) fields >> field.at(i);
  if (!fields) return std::nullopt;
  const auto ticks = [](const std::string& count) {
    return Millis{std::stoll(count) * 1000 / ::sysconf(_SC_CLK_TCK)};
  };
  Usage usage;
  usage.user = ticks(field[14]);
  usage.system = ticks(field[15]);
  usage.resident_bytes =
      std::stoull(field[24]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return usage;
}

Result<void> AggregatorProcess::start() {
  const std::string log = options_->log.string();
  std::string program = options_->program.string(), option = "--config";
  std::string config = options_->config.string();
  const std::array<char*, 4> arguments{program.data(), option.data(), config.data(), nullptr};
  if (::access(program.c_str(), X_OK) != 0) return std::unexpected(failed(program, errno));
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return std::unexpected(failed(log, errno));
  pid_ = ::fork();
  if (pid_ == 0) {
    // The aggregator ends with this program, however that ends.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(file);
  if (pid_ < 0) return std::unexpected(failed(program, error));
  return {};
}

bool AggregatorProcess::has_died() {
  if (!is_ours() || pid_ < 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

Usage AggregatorProcess::usage() const {
  Usage sum = past_;
  if (const auto now = usage_of(pid_)) {
    sum.user += now->user;
    sum.system += now->system;
    sum.resident_bytes = now->resident_bytes;
  }
  return sum;
}

void AggregatorProcess::end(How how) {
  if (!is_ours() || pid_ < 0) return;
  past_ = usage();
  ::kill(pid_, how == How::kill_at_once ? SIGKILL : SIGTERM);
  for (Millis waited{0}; how != How::kill_at_once && waited < kStopMost; waited += kLook) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return;
    }
    std::this_thread::sleep_for(kLook);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace l4::fleet
