#include "aggregator/service.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <utility>

#include "aggregator/api/api.h"
#include "aggregator/api/routes.h"
#include "aggregator/http/shared_answers.h"
#include "aggregator/http/tokens.h"
#include "aggregator/log.h"
#include "aggregator/page/page.h"
#include "common/config/config_values.h"
#include "common/http/client.h"
#include "common/wire/zmq/allow_list.h"

namespace l4::aggregator {
namespace {

live::Surroundings surroundings(wire::ServerPort& port,
                                std::shared_ptr<const faults::Library> library,
                                live::EvenClock& clock) {
  live::Surroundings around{
      port, std::move(library), {}, log_info, [&clock] { return clock.at(current_time()); }};
  around.warn = log_warning;
  around.post = [](const alert::Request& request) -> Result<unsigned> {
    http::ClientOptions options;
    options.timeout = request.timeout;
    options.body_max = 64 << 10;
    options.headers = request.headers;
    options.ca = request.ca;
    const auto answer = http::post(request.url, "application/json", request.body, options);
    if (!answer) return std::unexpected(answer.error());
    return answer->status;
  };
  return around;
}

Result<std::vector<std::string>> names_in(const std::filesystem::path& allow_list) {
  const auto list = wire::AllowList::load(allow_list);
  if (!list) return std::unexpected(list.error());
  std::vector<std::string> names;
  for (const wire::AllowList::Entry& entry : list->entries()) names.push_back(entry.name);
  return names;
}

/// The HTTP handler, behind the check of access.
Result<http::Handler> make_guarded(const Settings& settings, live::Aggregator& aggregator) {
  const auto& counters = settings.http.counters;
  http::Handler handler =
      http::tagged(http::share_answers(api::make_handler(aggregator, counters), api::is_shared));
  if (settings.tokens.empty())
    return http::unguarded(std::move(handler), api::need_of, settings.names, counters);
  return http::guarded(settings.tokens, std::move(handler), api::need_of, log_warning, counters);
}

}  // namespace

wire::Instant current_time() {
  return {std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch()),
          std::chrono::floor<Millis>(std::chrono::system_clock::now())};
}

Result<faults::Library> load_library(const Settings& settings) {
  auto library = faults::Library::load(settings.faults);
  if (!library)
    return std::unexpected(named_error(settings.named, settings.faults, library.error()));
  return library;
}

std::expected<std::unique_ptr<Service>, Service::Refusal> Service::start(Settings settings,
                                                                         wire::ServerPort& port,
                                                                         Notices notices) {
  std::unique_ptr<Service> service(new Service(std::move(settings)));
  if (auto refused = service->begin(port, std::move(notices)))
    return std::unexpected(std::move(*refused));
  return service;
}

std::optional<Service::Refusal> Service::begin(wire::ServerPort& port, Notices notices) {
  auto library = load_library(settings_);
  if (!library) return Refusal{library.error(), true};
  live::Options& live = settings_.live;
  live.server.incarnation = std::uint64_t{std::random_device{}()} << 32U | std::random_device{}();
  live.server.software = live.store.holder = "l4-aggregator " L4_VERSION;
  live.shards.job.version = L4_VERSION;
  live.alerts.sender.seed = live.server.incarnation;
  live::Surroundings around =
      surroundings(port, std::make_shared<const faults::Library>(std::move(*library)), clock_);
  around.port_notice = std::move(notices);
  if (!settings_.allow_list.empty())
    around.allowed = [file = settings_.allow_list] { return names_in(file); };
  auto aggregator = live::Aggregator::recover(live, std::move(around));
  if (!aggregator) return Refusal{aggregator.error(), false};
  aggregator_ = std::move(*aggregator);
  aggregator_->start();
  settings_.http.counters = std::make_shared<http::Counters>();
  return settings_.http_on ? serve_http() : std::nullopt;
}

std::optional<Service::Refusal> Service::serve_http() {
  auto handler = make_guarded(settings_, *aggregator_);
  if (!handler) return Refusal{handler.error(), true};
  auto started = http::Server::start(settings_.http, page::with_page(std::move(*handler)));
  if (!started) return Refusal{started.error(), true};
  server_ = std::move(*started);
  return std::nullopt;
}

Service::~Service() {
  stop();
}

void Service::stop() {
  if (!aggregator_) return;
  aggregator_->events().end();
  server_.reset();
  aggregator_->stop();
  aggregator_.reset();
}

std::string Service::address() const {
  if (!server_) return {};
  return fmt::format("{}://{}:{}", settings_.http.tls.certificate.empty() ? "http" : "https",
                     settings_.http.address, server_->port());
}

}  // namespace l4::aggregator
