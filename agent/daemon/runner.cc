#include "agent/daemon/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

#include "agent/host/host_time.h"
#include "agent/host/proc.h"

namespace l4::daemon {
namespace {

constexpr Millis kStopMost{4'000}, kReplaceEvery{5'000};

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) ^ device();
}

}  // namespace

Moment current_moment() {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<Millis>(steady), host::host_time()};
}

Result<std::unique_ptr<Runner>> Runner::start(Source source, Ready ready, OwnLog& log) {
  std::unique_ptr<Runner> runner(new Runner(std::move(source), log));
  if (const auto locked = runner->lock_state(ready); !locked)
    return std::unexpected(locked.error());
  auto agent = runner->make_agent(std::move(ready));
  if (!agent) return std::unexpected(agent.error());
  runner->agent_ = std::move(*agent);
  return runner;
}

/// Locks the state folder for this process, also across agents that are replaced within it.
Result<void> Runner::lock_state(const Ready& ready) {
  std::error_code failed;
  std::filesystem::create_directories(ready.settings.state, failed);
  auto lock = FolderLock::take(ready.settings.state, source_.software + " of " + ready.name);
  if (lock) {
    lock_.emplace(std::move(*lock));
    return {};
  }
  if (lock.error().in_use) {
    Error error = lock.error().error;
    error.reason += "; stop that one, or give this one another [state] folder";
    return std::unexpected(std::move(error));
  }
  log_.warn(fmt::format("the state folder cannot be used: {}; positions are not kept, and a second "
                        "agent would not be noticed. This agent runs as user {}: give that user "
                        "{}, or set another [state] folder",
                        lock.error().error.text(), ::geteuid(), ready.settings.state.string()),
            current_moment().steady);
  return {};
}

Result<std::unique_ptr<Agent>> Runner::make_agent(Ready ready, std::optional<tail::Tailer> tailer) {
  auto port = source_.connect(ready);
  if (!port) return std::unexpected(port.error());
  std::error_code failed;
  std::filesystem::create_directories(ready.settings.state, failed);
  Agent::World world;
  world.name = ready.name;
  world.boot_id = host::read_small("/proc/sys/kernel/random/boot_id", 36).value_or("");
  world.software = source_.software;
  world.incarnation = draw();
  world.seed = draw();
  world.stopwatch = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
  };
  world.port = std::move(*port);
  world.user_name = host::look_up_user;
  world.log = &log_;
  world.tailer = std::move(tailer);
  return Agent::make(std::move(ready.settings), std::move(world), current_moment());
}

Millis Runner::step() {
  const Millis wait = agent_->step(current_moment());
  if (agent_->is_crowded()) replace_agent();
  return wait;
}

/// Restarts the agent with the current settings; if those are wrong, the agent runs on.
void Runner::replace_agent() {
  const Millis now = current_moment().steady;
  if (now < replace_at_) return;
  replace_at_ = now + kReplaceEvery;
  auto ready = source_.read();
  const auto packs = ready ? Agent::check(ready->settings) : std::unexpected(ready.error());
  if (!packs) return log_.warn("cannot begin anew without idle jobs: " + packs.error().text(), now);
  auto tailer = agent_->make_room(current_moment());
  agent_.reset();  // closes its connection before the next one opens
  auto next = make_agent(std::move(*ready), std::move(tailer));
  if (!next) throw std::runtime_error(next.error().text());
  agent_ = std::move(*next);
}

void Runner::stop() {
  if (stop_at_) return;
  const Moment now = current_moment();
  stop_at_ = now.steady + kStopMost;
  agent_->stop(now);
}

bool Runner::is_over() const {
  return stop_at_ && (agent_->done() || current_moment().steady >= *stop_at_);
}

void Runner::close() {
  agent_->close(current_moment());
}

void Runner::reload() {
  const Moment now = current_moment();
  auto ready = source_.read();
  if (ready)
    agent_->reload(std::move(ready->settings), now);
  else
    log_.write(OwnLog::Weight::error, "the configuration stays as it was: " + ready.error().text(),
               now.steady);
}

}  // namespace l4::daemon
