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
#include <memory>
#include <optional>

#include "agent/daemon/metrics_page.h"
#include "agent/daemon/ready.h"
#include "agent/daemon/runner.h"
#include "common/config/service_options.h"
#include "common/wire/zmq/zmq_client.h"

namespace {

using namespace l4;

constexpr Millis kStatusEvery{10'000}, kLongest{1'000};
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

Result<std::unique_ptr<wire::ClientPort>> connect(const daemon::Ready& ready) {
  return wire::make_zmq_client(std::make_shared<wire::ZmqContext>(8),
                               {ready.settings.aggregator, ready.key, ready.settings.key.string()});
}

Millis steady_now() {
  return daemon::current_moment().steady;
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
  Loop(daemon::Runner& agent, daemon::OwnLog& log, int signals,
       std::optional<daemon::MetricsPage> metrics)
      : agent_(agent), log_(log), signals_(signals), metrics_(std::move(metrics)) {
    std::uint64_t usec = 0;
    if (::sd_watchdog_enabled(0, &usec) > 0) watchdog_ = Millis{static_cast<int>(usec / 2000)};
  }

  void run() {
    ::sd_notify(0, "READY=1");
    log_.info("l4-agent " L4_VERSION " has started", steady_now());
    while (!agent_.is_over()) {
      notify_systemd();
      wait(agent_.step());
    }
    agent_.close();
    log_.info("l4-agent has stopped", steady_now());
  }

 private:
  void notify_systemd() {
    const Millis now = steady_now();
    if (watchdog_ && now >= alive_at_) {
      ::sd_notify(0, "WATCHDOG=1");
      alive_at_ = now + *watchdog_;
    }
    if (now >= status_at_) {
      status_at_ = now + kStatusEvery;
      ::sd_notify(0, ("STATUS=" + agent_.status()).c_str());
    }
  }

  void wait(Millis most) {
    most = std::min(most, kLongest);
    if (watchdog_) most = std::min(most, *watchdog_);
    std::vector<pollfd> waits{{signals_, POLLIN, 0}};
    for (const int descriptor : agent_.descriptors())
      if (descriptor >= 0) waits.push_back({descriptor, POLLIN, 0});
    if (metrics_) metrics_->wait_for(waits);
    ::poll(waits.data(), waits.size(), static_cast<int>(most.count()));
    if (metrics_) metrics_->serve(steady_now(), [this] { return agent_.metrics(); });
    if ((waits.front().revents & POLLIN) == 0) return;
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal)
      signal.ssi_signo == SIGHUP ? reload() : stop();
  }

  void stop() {
    ::sd_notify(0, "STOPPING=1");
    agent_.stop();
  }

  void reload() {
    ::sd_notify(0, "RELOADING=1");
    agent_.reload();
    ::sd_notify(0, "READY=1");
  }

  daemon::Runner& agent_;
  daemon::OwnLog& log_;
  int signals_;
  std::optional<daemon::MetricsPage> metrics_;
  std::optional<Millis> watchdog_;
  Millis alive_at_{0}, status_at_{0};
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
  const std::string metrics_at = ready->settings.metrics;
  auto agent = daemon::Runner::start(
      {"l4-agent " L4_VERSION, [&] { return daemon::read_config(options.config); }, connect},
      std::move(*ready), log);
  if (!agent) {
    log.write(daemon::OwnLog::Weight::error, agent.error().text(), steady_now());
    return kFailed;
  }
  std::optional<daemon::MetricsPage> metrics;
  if (!metrics_at.empty()) {
    auto page = daemon::MetricsPage::listen(metrics_at);
    if (page)
      metrics.emplace(std::move(*page));
    else  // logs are read even if metrics cannot be served
      log.write(daemon::OwnLog::Weight::error, page.error().text(), steady_now());
  }
  Loop(**agent, log, signals, std::move(metrics)).run();
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
