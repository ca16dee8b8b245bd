#include "tools/fleet/aggregator_process.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

namespace l4::fleet {
namespace {

constexpr int kStatFields = 24;
constexpr Millis kStopMost{20'000};

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
  auto started = process::Child::start(
      {options_->program, {"--config", options_->config.string()}, options_->log, SIGTERM});
  if (!started) return std::unexpected(started.error());
  child_ = std::move(*started);
  return {};
}

bool AggregatorProcess::has_died() {
  return child_ && child_->pid() >= 0 && child_->ending();
}

Usage AggregatorProcess::usage() const {
  Usage sum = past_;
  if (const auto now = usage_of(pid())) {
    sum.user += now->user;
    sum.system += now->system;
    sum.resident_bytes = now->resident_bytes;
  }
  return sum;
}

void AggregatorProcess::kill() {
  if (!child_) return;
  past_ = usage();
  child_->kill();
}

void AggregatorProcess::stop() {
  if (!child_) return;
  past_ = usage();
  child_->stop(kStopMost);
}

}  // namespace l4::fleet
