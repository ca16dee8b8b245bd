// The sinks of alerts: which alerts one takes, and the form in which it gets them.
//
// Flow: Alerter asks `takes` and stores `body`; Sender makes a request of what was stored, with
// the secrets that are not stored. The kinds stand in one table in sink.cc. Bounds: texts of others
// are cut. Pure functions, no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/alert/match.h"

namespace l4::alert {

enum class SinkKind : std::uint8_t { alertmanager, webhook, slack, pagerduty, exec };
inline constexpr std::size_t kSinkKinds = 5;
std::string_view name(SinkKind kind);

struct SinkOptions {
  std::string name{};  ///< also of its rows in the database and of its metrics
  SinkKind kind = SinkKind::webhook;
  std::string url{};
  std::filesystem::path ca{};          ///< whom to believe over https; empty: as the system does
  std::string secret{};                ///< webhook: key of the signature; PagerDuty: routing key
  std::vector<std::string> command{};  ///< of exec
  Millis timeout{3'000};               ///< of one try: a post, or the program's run
  Severity severity_min = Severity::info;
  std::vector<Match> matches{};  ///< one of them; empty: all
  bool groups = true;            ///< many incidents at once are told together
  bool operator==(const SinkOptions&) const = default;
};

/// The one that `[alerts] webhook` makes.
inline constexpr auto kWebhook = "webhook";
/// What it is called in lines of the log.
std::string called(const SinkOptions& sink);

/// `as`: see holds().
bool takes(const SinkOptions& sink, const Alert& alert, Topic as);
bool takes(const SinkOptions& sink, const Alert& alert);

/// True if it is told again and again what is open, instead of once.
bool is_told_again(SinkKind kind);
/// True if it groups what comes at once by itself.
bool groups_itself(SinkKind kind);
/// True if an alert stays open there until its end is told: that is sent whatever the filters say.
bool ends_always(SinkKind kind);

/// What is stored until it is sent.
std::string body(SinkKind kind, const Alert& alert, const std::string& source);

struct Request {
  std::string url, body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::filesystem::path ca{};
  Millis timeout{3'000};
};
/// Of what was stored; several only for a sink that is told again.
Request request(const SinkOptions& sink, const std::vector<std::string>& stored);

/// HMAC-SHA256 in hexadecimal digits.
std::string signature(std::string_view secret, std::string_view body);

}  // namespace l4::alert
