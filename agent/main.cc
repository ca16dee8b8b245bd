// l4-agent: reads the logs of the training jobs on this node and ships their events.
//
// Command line, keys, the event loop, signals and systemd; everything else is in agent/daemon.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

#include "agent/daemon/agent.h"
#include "agent/daemon/metrics_page.h"
#include "agent/daemon/ready.h"
#include "common/base/folder_lock.h"
#include "common/config/service_options.h"
#include "common/wire/zmq/zmq_client.h"

namespace {

using namespace l4;

constexpr Millis kStopMost{4'000}, kStatusEvery{10'000}, kLongest{1'000}, kReplaceEvery{5'000};
enum Exit : int { kDone = 0, kFailed = 1, kWrongUse = 2 };

constexpr auto kHelp =
    "usage: l4-agent [--config FILE] [--check-config]\n"
    "       l4-agent --help | --version\n"
    "\n"
    "Reads the logs of training jobs on this node and ships their events to l4-aggregator.\n"
    "\n"
    "  --config FILE    settings (default: /etc/l4/agent.toml); config/agent.toml shows all of "
    "them\n"
    "  --check-config   reads them, and what they name, says what is wrong, and ends\n"
    "  --version        says which version this is\n"
    "\n"
    "SIGHUP reads the settings again; SIGTERM ends it once all that was read is shipped or kept.\n";

daemon::Moment moment() {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<Millis>(steady), host::host_time()};
}

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) ^ device();
}

Result<std::unique_ptr<daemon::Agent>> make_agent(daemon::Ready ready, daemon::OwnLog& log,
                                                  std::optional<tail::Tailer> tailer = {}) {
  auto port = wire::make_zmq_client(std::make_shared<wire::ZmqContext>(8),
                                    {ready.settings.aggregator, ready.key});
  if (!port) return std::unexpected(port.error());
  std::error_code failed;
  std::filesystem::create_directories(ready.settings.state, failed);
  daemon::Agent::World world;
  world.name = ready.name;
  world.boot_id = host::read_small("/proc/sys/kernel/random/boot_id", 36).value_or("");
  world.software = "l4-agent " L4_VERSION;
  world.incarnation = draw();
  world.seed = draw();
  world.port = std::move(*port);
  world.log = &log;
  world.tailer = std::move(tailer);
  return daemon::Agent::make(std::move(ready.settings), std::move(world), moment());
}

/// Locks the state folder for this process, also across agents that are replaced within it. Empty
/// if the folder cannot be locked, for example on a read-only disk: the agent then runs without.
Result<std::optional<FolderLock>> lock_state(const daemon::Ready& ready, daemon::OwnLog& log) {
  std::error_code failed;
  std::filesystem::create_directories(ready.settings.state, failed);
  auto lock = FolderLock::take(ready.settings.state, "l4-agent " L4_VERSION " of " + ready.name);
  if (lock) return std::move(*lock);
  if (lock.error().in_use) return std::unexpected(lock.error().error);
  log.warn(
      "a second agent with this state folder would not be noticed: " + lock.error().error.text(),
      moment().steady);
  return std::nullopt;
}

/// A descriptor that receives the signals, which are blocked before any thread starts.
int take_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

class Loop {
 public:
  Loop(std::unique_ptr<daemon::Agent> agent, daemon::OwnLog& log, std::filesystem::path config,
       int signals, std::optional<daemon::MetricsPage> metrics)
      : agent_(std::move(agent)),
        log_(log),
        config_(std::move(config)),
        signals_(signals),
        metrics_(std::move(metrics)) {
    std::uint64_t usec = 0;
    if (::sd_watchdog_enabled(0, &usec) > 0) watchdog_ = Millis{static_cast<int>(usec / 2000)};
  }

  void run() {
    ::sd_notify(0, "READY=1");
    log_.info("l4-agent " L4_VERSION " has started", moment().steady);
    while (!over()) {
      wait(agent_->step(moment()));
      if (agent_->is_crowded()) replace_agent();
    }
    agent_->close(moment());
    log_.info("l4-agent has stopped", moment().steady);
  }

 private:
  bool over() {
    const daemon::Moment now = moment();
    if (watchdog_ && now.steady >= alive_at_) {
      ::sd_notify(0, "WATCHDOG=1");
      alive_at_ = now.steady + *watchdog_;
    }
    if (now.steady >= status_at_) {
      status_at_ = now.steady + kStatusEvery;
      ::sd_notify(0, ("STATUS=" + agent_->status()).c_str());
    }
    return stop_at_ && (agent_->done() || now.steady >= *stop_at_);
  }

  void wait(Millis most) {
    most = std::min(most, kLongest);
    if (watchdog_) most = std::min(most, *watchdog_);
    std::vector<pollfd> waits{{signals_, POLLIN, 0}};
    for (const int descriptor : agent_->descriptors())
      if (descriptor >= 0) waits.push_back({descriptor, POLLIN, 0});
    if (metrics_) metrics_->wait_for(waits);
    ::poll(waits.data(), waits.size(), static_cast<int>(most.count()));
    if (metrics_) metrics_->serve(moment().steady, [this] { return agent_->metrics(); });
    if ((waits.front().revents & POLLIN) == 0) return;
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal)
      signal.ssi_signo == SIGHUP ? reload() : stop();
  }

  void stop() {
    if (stop_at_) return;
    const daemon::Moment now = moment();
    stop_at_ = now.steady + kStopMost;
    ::sd_notify(0, "STOPPING=1");
    agent_->stop(now);
  }

  /// Restarts the agent with the current configuration; if that is wrong, the agent runs on.
  void replace_agent() {
    const Millis now = moment().steady;
    if (now < replace_at_) return;
    replace_at_ = now + kReplaceEvery;
    auto ready = daemon::read_config(config_);
    const auto packs =
        ready ? daemon::Agent::check(ready->settings) : std::unexpected(ready.error());
    if (!packs)
      return log_.warn("cannot begin anew without idle jobs: " + packs.error().text(), now);
    auto tailer = agent_->make_room(moment());
    agent_.reset();  // closes its connection before the next one opens
    auto next = make_agent(std::move(*ready), log_, std::move(tailer));
    if (!next) throw std::runtime_error(next.error().text());
    agent_ = std::move(*next);
  }

  void reload() {
    const daemon::Moment now = moment();
    ::sd_notify(0, "RELOADING=1");
    auto settings = daemon::load_settings(config_);
    if (settings)
      agent_->reload(std::move(*settings), now);
    else
      log_.write(daemon::OwnLog::Weight::error,
                 "the configuration stays as it was: " + settings.error().text(), now.steady);
    ::sd_notify(0, "READY=1");
  }

  std::unique_ptr<daemon::Agent> agent_;
  daemon::OwnLog& log_;
  std::filesystem::path config_;
  int signals_;
  std::optional<daemon::MetricsPage> metrics_;
  std::optional<Millis> watchdog_, stop_at_;
  Millis alive_at_{0}, status_at_{0}, replace_at_{0};
};

int run(const ServiceOptions& options) {
  auto ready = daemon::read_config(options.config);
  if (!ready) {
    fmt::print(stderr, "l4-agent: {}\n", ready.error().text());
    return kWrongUse;
  }
  if (options.check_only) {
    if (const auto good = daemon::Agent::check(ready->settings); !good) {
      fmt::print(stderr, "l4-agent: {}\n", good.error().text());
      return kWrongUse;
    }
    fmt::print("{}: as it should be\n", options.config.string());
    return kDone;
  }
  const int signals = take_signals();
  daemon::OwnLog log(std::getenv("JOURNAL_STREAM") != nullptr);
  const auto fail = [&](const Error& error) {
    log.write(daemon::OwnLog::Weight::error, error.text(), moment().steady);
    return kFailed;
  };
  const auto lock = lock_state(*ready, log);
  if (!lock) return fail(lock.error());
  std::optional<daemon::MetricsPage> metrics;
  if (!ready->settings.metrics.empty()) {
    auto page = daemon::MetricsPage::listen(ready->settings.metrics);
    if (page)
      metrics.emplace(std::move(*page));
    else  // logs are read even if metrics cannot be served
      log.write(daemon::OwnLog::Weight::error, page.error().text(), moment().steady);
  }
  auto agent = make_agent(std::move(*ready), log);
  if (!agent) return fail(agent.error());
  Loop(std::move(*agent), log, options.config, signals, std::move(metrics)).run();
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  const ServiceOptions options =
      read_service_options(argc, argv, {"l4-agent", L4_VERSION, kHelp}, "/etc/l4/agent.toml");
  if (options.exit) return *options.exit;
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "l4-agent: {}\n", error.what());
    return kFailed;
  }
}
