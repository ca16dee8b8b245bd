#include "aggregator/program.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "aggregator/http/tokens.h"
#include "aggregator/live/even_clock.h"
#include "aggregator/log.h"
#include "aggregator/service.h"
#include "common/config/config_values.h"
#include "common/http/tls.h"
#include "common/wire/zmq/allow_list.h"
#include "common/wire/zmq/zmq_server.h"

namespace l4::aggregator {
namespace {

constexpr int kDone = 0, kFailed = 1, kWrong = 2;

/// Signals are blocked in all threads, so that `next` alone receives them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// The next signal, or 0 if none comes in time.
int next(const sigset_t& signals, Millis most) {
  const timespec wait{most.count() / 1000, (most.count() % 1000) * 1'000'000};
  const int signal = sigtimedwait(&signals, nullptr, &wait);
  return signal < 0 ? 0 : signal;
}

/// The error of a file, with the place in the config that names it.
std::unexpected<Error> refused(const Settings& settings, const std::filesystem::path& file,
                               const Error& error) {
  return std::unexpected(named_error(settings.named, file, error));
}

Result<wire::ZmqServerOptions> wire_options(const Settings& settings) {
  auto key = wire::load_server_key(settings.key);
  if (!key) return refused(settings, settings.key, key.error());
  wire::ZmqServerOptions options;
  options.endpoint = settings.endpoint;
  options.key = std::move(*key);
  options.allow_list = settings.allow_list;
  return options;
}

/// Checks that the authorities that https sinks trust can be read.
Result<void> check_authorities(const Settings& settings) {
  const alert::AlerterOptions& alerts = settings.live.alerts;
  std::vector<std::filesystem::path> files{alerts.ca};
  for (const alert::SinkOptions& sink : alerts.sinks) files.push_back(sink.ca);
  for (const std::filesystem::path& file : files)
    if (!file.empty())
      if (const auto trust = http::client_tls(file); !trust)
        return refused(settings, file, trust.error());
  return {};
}

/// What a reload needs.
struct Running {
  const std::filesystem::path& config;
  Service& service;
};

/// Loads the certificate from its files again; the former one stays if they are invalid.
void reload_certificate(const Settings& read, const Running& running) {
  const http::TlsFiles& files = read.http.tls;
  const bool spoken = !running.service.settings().http.tls.certificate.empty();
  if (running.service.server() == nullptr || files.certificate.empty() != !spoken) {
    if (running.service.server() != nullptr)
      log_warning("[http] certificate: TLS is begun or ended by a restart only");
    return;
  }
  if (!spoken) return;
  const auto taken = running.service.server()->reload(files);
  if (!taken)
    log_error("the certificate was not taken, the one before it is shown: " +
              named_error(read.named, taken.error().where, taken.error()).text());
}

Result<Settings> read_again(const std::filesystem::path& config) {
  auto settings = load_settings(config);
  if (!settings) return settings;
  if (const auto checked = check_authorities(*settings); !checked)
    return std::unexpected(checked.error());
  return settings;
}

void reload(const Running& running) {
  sd_notify(0, "RELOADING=1");
  const auto settings = read_again(running.config);
  if (settings) {
    start_log(settings->log_level);
    running.service.aggregator().set(settings->live.shards.job.thresholds);
    running.service.aggregator().set(settings->live.alerts);
    log_info(
        "the config was read again: [alerts], [log], the certificate of [http], and of [detect] "
        "both "
        "floors, device_wait_s and confidence_percent hold from now on; the allow list is read "
        "whenever it changes");
    if (const auto keys = after_restart(running.service.settings(), *settings); !keys.empty())
      log_warning(fmt::format("changed in the config, but held from a restart on: {}",
                              fmt::join(keys, ", ")));
    reload_certificate(*settings, running);
  } else {
    log_error("the config was not taken, the one before it holds: " + settings.error().text());
  }
  sd_notify(0, "READY=1");
}

void tell_jump(Millis jump) {
  if (std::chrono::abs(jump) <= live::EvenClock::kJump) return;
  const auto seconds = std::chrono::round<std::chrono::seconds>(std::chrono::abs(jump));
  log_warning(
      fmt::format("the clock of this host was set {} by {}; times of jobs follow it by a "
                  "tenth, so that no silence seems longer or shorter than it is",
                  jump < Millis{0} ? "back" : "on", to_human(seconds)));
}

/// Serves until a signal ends it, and feeds the watchdog as long as all threads make progress.
void serve(const sigset_t& signals, const Running& running) {
  std::uint64_t watchdog_us = 0;
  const bool watched = sd_watchdog_enabled(0, &watchdog_us) > 0;
  const Millis pause =
      watched ? Millis{static_cast<std::int64_t>(watchdog_us / 3000)} + Millis{1} : Millis{10'000};
  for (;;) {
    const int signal = next(signals, pause);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) reload(running);
    if (const auto jump = running.service.clock().poll_jump()) tell_jump(*jump);
    if (watched && !running.service.aggregator().health().stalled) sd_notify(0, "WATCHDOG=1");
  }
}

/// Adds what can be done about an address that is taken, or a state folder in use or not ours.
Error with_next_step(Error error, const std::filesystem::path& config,
                     const std::filesystem::path& store, std::string_view key) {
  if (error.reason.find(std::strerror(EADDRINUSE)) != std::string::npos)
    error.reason += fmt::format(
        "; another program listens there ('ss -ltnp' names it): stop it, or "
        "set {} in {}",
        key, config.string());
  const bool denied =
      error.reason.ends_with(std::strerror(EACCES)) || error.reason.ends_with(std::strerror(EROFS));
  if (denied && error.where.starts_with(store.string()))
    error.reason += fmt::format(
        "; the aggregator runs as user {}: give that user {}, or set [store] folder in {}",
        ::geteuid(), store.string(), config.string());
  if (error.reason.ends_with(std::strerror(ENOENT)) && error.where.starts_with(store.string()))
    error.reason += fmt::format("; make {}, or set [store] folder in {}",
                                store.parent_path().string(), config.string());
  if (error.reason.starts_with("the state folder is in use"))
    error.reason += fmt::format("; stop that one, or set [store] folder in {}", config.string());
  return error;
}

int fail(const Error& error, int status) {
  log_error(error.text());
  return status;
}

/// Checks that keys, tokens and certificate can be read, and that sinks have valid settings.
Result<void> check_files(const Settings& settings) {
  if (const auto list = wire::AllowList::load(settings.allow_list); !list)
    return refused(settings, settings.allow_list, list.error());
  if (settings.http_on && !settings.tokens.empty())
    if (const auto rows = http::read_tokens(settings.tokens); !rows)
      return refused(settings, settings.tokens, rows.error());
  if (settings.http_on && !settings.http.tls.certificate.empty())
    if (const auto tls = http::server_tls(settings.http.tls, current_time().wall); !tls)
      return refused(settings, tls.error().where, tls.error());
  return check_authorities(settings);
}

}  // namespace

Result<void> check(const Settings& settings) {
  if (const auto wire = wire_options(settings); !wire) return std::unexpected(wire.error());
  if (const auto library = load_library(settings); !library)
    return std::unexpected(library.error());
  return check_files(settings);
}

/// Agents that the keys of the allow list let in; a key of a fleet lets in all.
std::size_t agents_expected(const Settings& settings) {
  const std::size_t most = settings.live.server.agents_max;
  const auto list = wire::AllowList::load(settings.allow_list);
  if (!list) return most;
  for (const auto& entry : list->entries())
    if (entry.name == wire::kFleetKeyName) return most;
  return std::min(most, list->entries().size());
}

/// Raises the limit to the hard limit, because each agent and each client needs a descriptor; lower
/// limits are defaults of shells.
void raise_descriptor_limit(const Settings& settings) {
  constexpr std::size_t kOwn = 64;  // journal, database, threads
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  const std::size_t agents = agents_expected(settings);
  const std::size_t wanted = agents + (settings.http_on ? settings.http.connections_max : 0) + kOwn;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted)
    log_warning(
        fmt::format("only {} files may be open (LimitNOFILE, ulimit -n), {} agents may come: "
                    "those for whom none is left are turned away",
                    limit.rlim_cur, agents));
}

int run(Settings settings, const std::filesystem::path& config) {
  start_log(settings.log_level);
  const sigset_t signals = block_signals();
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto files = check_files(settings); !files) return fail(files.error(), kWrong);
  raise_descriptor_limit(settings);
  const std::filesystem::path store = settings.live.store.folder;
  const auto wire = wire_options(settings);
  if (!wire) return fail(wire.error(), kWrong);
  auto port = wire::ZmqServer::make(std::make_shared<wire::ZmqContext>(), *wire);
  if (!port) return fail(with_next_step(port.error(), config, store, "[wire] listen"), kWrong);
  auto service = Service::start(std::move(settings), **port, [&port] { return (*port)->notice(); });
  if (!service)
    return fail(with_next_step(service.error().error, config, store, "[http] port"),
                service.error().is_of_settings ? kWrong : kFailed);
  const std::string address = (*service)->address();
  log_info(fmt::format("listens for agents at {}, {}", (*port)->endpoint(),
                       address.empty() ? "answers no questions" : "for questions at " + address));
  sd_notify(0, "READY=1");
  serve(signals, {config, **service});
  sd_notify(0, "STOPPING=1");
  log_info("stops");
  (*service)->stop();
  log_info("has stopped");
  return kDone;
}

}  // namespace l4::aggregator
