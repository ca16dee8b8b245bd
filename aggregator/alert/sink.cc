#include "aggregator/alert/sink.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <span>

#include "aggregator/alert/alertmanager.h"
#include "aggregator/alert/pagerduty.h"
#include "aggregator/alert/slack.h"
#include "common/base/hex.h"

namespace l4::alert {
namespace {

struct Row {
  std::string_view name;
  bool told_again;   ///< what is open is sent again and again
  bool ends_always;  ///< an alert stays open there until its end is told
  std::string (*body)(const Alert&, const std::string& source);
};

/// In the order of SinkKind.
constexpr std::array<Row, kSinkKinds> kRows{{
    {"alertmanager", true, true, to_alertmanager},
    {"webhook", false, false, to_json},
    {"slack", false, false, to_slack},
    {"pagerduty", false, true, to_pagerduty},
    {"exec", false, false, to_json},
}};

const Row& row(SinkKind kind) {
  return kRows.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::string_view name(SinkKind kind) {
  return row(kind).name;
}

std::string called(const SinkOptions& sink) {
  if (sink.name == kWebhook) return fmt::format("webhook {}", sink.url);
  return fmt::format("alerts to {} ({})", sink.name, name(sink.kind));
}

bool is_told_again(SinkKind kind) {
  return row(kind).told_again;
}

bool ends_always(SinkKind kind) {
  return row(kind).ends_always;
}

bool groups_itself(SinkKind kind) {
  return kind == SinkKind::alertmanager;
}

bool takes(const SinkOptions& sink, const Alert& alert, Topic as) {
  const bool ends = row(sink.kind).ends_always && is_over(alert);
  if (!ends && severity(alert) < sink.severity_min) return false;
  const auto meant = [&](const Match& match) {
    return ends ? may_hold(match, alert, as) : holds(match, alert, as);
  };
  return sink.matches.empty() || std::ranges::any_of(sink.matches, meant);
}

bool takes(const SinkOptions& sink, const Alert& alert) {
  return takes(sink, alert, topic(alert.kind));
}

std::string body(SinkKind kind, const Alert& alert, const std::string& source) {
  return row(kind).body(alert, source);
}

Request request(const SinkOptions& sink, const std::vector<std::string>& stored) {
  Request made{
      sink.url, stored.empty() ? std::string() : stored.front(), {}, sink.ca, sink.timeout};
  switch (sink.kind) {
    case SinkKind::alertmanager:
      made.url = alertmanager_url(sink.url);
      made.body = fmt::format("[{}]", fmt::join(stored, ", "));
      break;
    case SinkKind::webhook:
      if (!sink.secret.empty())
        made.headers.emplace_back("X-L4-Signature", "sha256=" + signature(sink.secret, made.body));
      break;
    case SinkKind::pagerduty:
      made.body = with_routing_key(made.body, sink.secret);
      break;
    case SinkKind::slack:
    case SinkKind::exec:
      break;
  }
  return made;
}

std::string signature(std::string_view secret, std::string_view body) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data(), &size);
  return hex_of(std::span(digest).first(size));
}

}  // namespace l4::alert
