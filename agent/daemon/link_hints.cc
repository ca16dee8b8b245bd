#include "agent/daemon/link_hints.h"

#include <fmt/format.h>
#include <netdb.h>

#include <chrono>
#include <utility>

namespace l4::daemon {
namespace {

constexpr Millis kFirstLookup{5'000}, kLookupEvery{60'000};
constexpr Millis kClockMost{60'000};

std::string host_of(const std::string& endpoint) {
  const std::size_t begin = endpoint.find("://");
  std::string host = begin == std::string::npos ? endpoint : endpoint.substr(begin + 3);
  host.erase(std::min(host.rfind(':'), host.size()));
  return host.starts_with('[') ? std::string() : host;  // an address needs no look-up
}

}  // namespace

struct LinkHints::Lookup {
  explicit Lookup(std::string name) : host(std::move(name)) {
    request.ar_name = host.c_str();
    gaicb* list[1] = {&request};
    started = ::getaddrinfo_a(GAI_NOWAIT, list, 1, nullptr) == 0;
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup() {
    if (request.ar_result != nullptr) ::freeaddrinfo(request.ar_result);
  }

  std::string host;
  gaicb request{};
  bool started = false;
};

LinkHints::LinkHints(std::string endpoint, OwnLog& log, Millis now)
    : endpoint_(std::move(endpoint)), log_(log), lookup_at_(now + kFirstLookup) {}

LinkHints::~LinkHints() {
  if (!lookup_ || !lookup_->started) return;
  // What glibc still works on must outlive this object.
  if (::gai_cancel(&lookup_->request) == EAI_NOTCANCELED) static_cast<void>(lookup_.release());
}

void LinkHints::poll(bool connected, std::optional<Millis> offset, Millis now) {
  poll_name(connected, now);
  if (offset) poll_clock(*offset, now);
}

void LinkHints::poll_name(bool connected, Millis now) {
  if (lookup_) {
    const int state = lookup_->started ? ::gai_error(&lookup_->request) : 0;
    if (state == EAI_INPROGRESS) return;
    if (state != 0 && state != EAI_CANCELED && !connected)
      log_.warn(
          fmt::format("{}: the name {} cannot be resolved: {}; mend [link] aggregator, or the "
                      "name service of this host",
                      endpoint_, lookup_->host, ::gai_strerror(state)),
          now);
    lookup_.reset();
  }
  if (connected || now < lookup_at_) return;
  lookup_at_ = now + kLookupEvery;
  if (std::string host = host_of(endpoint_); !host.empty())
    lookup_ = std::make_unique<Lookup>(std::move(host));
}

void LinkHints::poll_clock(Millis offset, Millis now) {
  const bool differs = std::chrono::abs(offset) > kClockMost;
  if (std::exchange(clock_differs_, differs) == differs) return;
  if (differs)
    log_.warn(
        fmt::format("the clock of this host is {} {} the aggregator's; see whether chrony or "
                    "ntpd runs here, and there if all nodes differ",
                    to_human(std::chrono::abs(offset)), offset > Millis{0} ? "behind" : "ahead of"),
        now);
  else
    log_.recovered("the clock of this host agrees with the aggregator's again", now);
}

}  // namespace l4::daemon
