// A running aggregator: its state restored, its threads started, its HTTP server listening.
//
// Flow: settings and a port (ZeroMQ in l4-aggregator, memory in `l4 local`) -> start -> runs on
// threads of its own -> stop, which saves everything in less than 5 s. The functions are for the
// thread that started it; the parts that it gives say themselves which threads they are for.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aggregator/faults/library.h"
#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"
#include "aggregator/live/even_clock.h"
#include "aggregator/settings.h"
#include "common/base/error.h"
#include "common/wire/instant.h"
#include "common/wire/port.h"

namespace l4::aggregator {

/// The time of this moment, from the clocks of this host.
wire::Instant current_time();

/// The fault library of the settings. Error: the file, and the place in the config that names it.
Result<faults::Library> load_library(const Settings& settings);

class Service {
 public:
  struct Refusal {
    Error error;
    bool is_of_settings = false;  ///< something that the settings name is not there
  };
  using Notices = std::function<std::optional<wire::PortNotice>()>;

  /// The port outlives the service. `notices`: lines of the port for the log; empty: none.
  static std::expected<std::unique_ptr<Service>, Refusal> start(Settings settings,
                                                                wire::ServerPort& port,
                                                                Notices notices = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Accepts nothing more and saves everything.
  void stop();

  const Settings& settings() const { return settings_; }
  live::Aggregator& aggregator() { return *aggregator_; }
  live::EvenClock& clock() { return clock_; }
  http::Server* server() { return server_.get(); }  ///< null: HTTP is off
  /// "http://127.0.0.1:7440"; empty if HTTP is off.
  std::string address() const;

 private:
  explicit Service(Settings settings) : settings_(std::move(settings)) {}
  std::optional<Refusal> begin(wire::ServerPort& port, Notices notices);
  std::optional<Refusal> serve_http();

  Settings settings_;
  live::EvenClock clock_;
  std::unique_ptr<live::Aggregator> aggregator_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace l4::aggregator
