#include "tools/l4/commands/local/pair.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "aggregator/log.h"
#include "common/base/thread.h"
#include "common/wire/greeting.h"

namespace l4::commands::local {
namespace {

constexpr Millis kLongest{1'000};
constexpr double kCpuShare = 1.0;  // of one core: it catches up fast, and leaves the rest to jobs
constexpr std::uint64_t kRingBytes = 256ULL << 20U;

/// The name of this host as the agent's; "local" if it is no name of a node.
std::string node_name() {
  std::string name = daemon::host_name();
  return wire::is_node_name(name) ? name : "local";
}

Result<daemon::Ready> agent_settings(const PairOptions& options) {
  daemon::Ready ready{daemon::default_settings(), {}, node_name()};
  daemon::Settings& settings = ready.settings;
  settings.sources = options.sources;
  settings.state = options.folder / "agent";
  settings.processes = options.processes;
  settings.kernel = options.processes && ::access("/dev/kmsg", R_OK) == 0;
  settings.limits.cpu_share = kCpuShare;
  settings.limits.resident_bytes = 0;  // the aggregator's memory would count, too
  if (const auto done = daemon::complete(settings, "l4 local"); !done)
    return std::unexpected(done.error());
  return ready;
}

Result<aggregator::Settings> aggregator_settings(const PairOptions& options) {
  aggregator::Settings settings = aggregator::default_settings();
  settings.live.store.journal.ring_bytes = kRingBytes;
  if (!options.config.empty()) {
    auto read = aggregator::start_settings_without_wire(options.config);
    if (!read) return read;
    settings = std::move(*read);
  } else if (const auto done = aggregator::complete(settings, "l4 local"); !done) {
    return std::unexpected(done.error());
  }
  settings.live.store.folder = options.folder / "aggregator";
  settings.http.port = options.port;
  settings.tokens = options.tokens;
  return settings;
}

}  // namespace

Result<std::unique_ptr<Pair>> Pair::start(const PairOptions& options) {
  auto log = daemon::OwnLog::in_file(options.folder / "agent.log");
  if (!log) return std::unexpected(log.error());
  if (const auto started = aggregator::start_log_in(options.folder / "aggregator.log"); !started)
    return std::unexpected(started.error());
  auto settings = aggregator_settings(options);
  if (!settings) return std::unexpected(settings.error());
  std::unique_ptr<Pair> pair(new Pair(std::move(*log)));
  pair->port_ = pair->wire_.server();
  auto service = aggregator::Service::start(std::move(*settings), *pair->port_);
  if (!service) return std::unexpected(service.error().error);
  pair->aggregator_ = std::move(*service);
  if (const auto begun = pair->start_agent(options); !begun) return std::unexpected(begun.error());
  return pair;
}

Result<void> Pair::start_agent(const PairOptions& options) {
  const auto read = [options] { return agent_settings(options); };
  auto ready = read();
  if (!ready) return std::unexpected(ready.error());
  const auto connect =
      [this](const daemon::Ready& to) -> Result<std::unique_ptr<wire::ClientPort>> {
    return wire_.client(to.name);
  };
  auto agent =
      daemon::Runner::start({"l4 local " L4_VERSION, read, connect}, std::move(*ready), log_);
  if (!agent) return std::unexpected(agent.error());
  agent_ = std::move(*agent);
  thread_ = start_thread("l4-agent", [this](const std::stop_token& stop) { run_agent(stop); });
  return {};
}

void Pair::run_agent(const std::stop_token& stop) {
  try {
    while (!agent_->is_over()) {
      const Millis wait = std::min(agent_->step(), kLongest);
      std::vector<pollfd> waits{{stopping_.file(), POLLIN, 0}};
      for (const int descriptor : agent_->descriptors())
        if (descriptor >= 0) waits.push_back({descriptor, POLLIN, 0});
      ::poll(waits.data(), waits.size(), static_cast<int>(wait.count()));
      if (!stop.stop_requested()) continue;
      stopping_.quiet();
      agent_->stop();
    }
    agent_->close();
  } catch (const std::exception& error) {
    log_.write(daemon::OwnLog::Weight::error, error.what(), daemon::current_moment().steady);
    failed_ = true;
  }
}

Pair::~Pair() {
  stop();
}

void Pair::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    stopping_.ring();
    thread_.join();
  }
  if (aggregator_) aggregator_->stop();
}

}  // namespace l4::commands::local
