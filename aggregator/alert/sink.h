// The sinks of alerts: which alerts a sink accepts, and the request that carries them there.
//
// Flow: Alerter asks `accepts` and stores `SinkKind::body`; Sender makes a request of what was
// stored, with the secrets that are not stored. sink_kind.h has the kinds. Bounds: texts that
// others wrote are cut. Pure functions, no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/alert/filter.h"
#include "common/base/error.h"

namespace l4::alert {

struct SinkKind;                 // sink_kind.h
extern const SinkKind kWebhook;  // webhook.h

struct SinkOptions {
  std::string name{};  ///< also the name of its rows in the database and of its metrics
  const SinkKind* kind = &kWebhook;
  std::string url{};
  std::filesystem::path ca{};          ///< trusted authorities for https; empty: the system's
  std::string secret{};                ///< webhook: key of the signature; PagerDuty: routing key
  std::vector<std::string> command{};  ///< exec: program and arguments
  Millis timeout{3'000};               ///< time limit of one try: a post, or the program's run
  Severity severity_min = Severity::info;
  std::vector<AlertFilter> filters{};  ///< one of them must match; none: all but notices do
  bool groups = true;                  ///< many incidents at once are sent together
  bool operator==(const SinkOptions&) const = default;
};

/// Name of the sink that `[alerts] webhook` makes.
inline constexpr auto kDefaultSink = "webhook";
/// The name of a sink in lines of the log.
std::string log_name(const SinkOptions& sink);

/// `as`: see matches().
bool accepts(const SinkOptions& sink, const Alert& alert, Topic as);
bool accepts(const SinkOptions& sink, const Alert& alert);

struct Request {
  std::string url, body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::filesystem::path ca{};
  Millis timeout{3'000};
};
/// Makes the request that carries the stored bodies; only a kind that repeats has several.
Request make_request(const SinkOptions& sink, const std::vector<std::string>& stored);

/// Posts a request and returns the HTTP status, or why there is none; may wait some seconds. Any
/// status but 2xx is retried.
using Post = std::function<Result<unsigned>(const Request& request)>;

}  // namespace l4::alert
