#include "aggregator/alert/sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/alert/sink_kind.h"

namespace l4::alert {

std::string log_name(const SinkOptions& sink) {
  if (sink.name == kDefaultSink) return fmt::format("webhook {}", sink.url);
  return fmt::format("alerts to {} ({})", sink.name, sink.kind->name);
}

bool accepts(const SinkOptions& sink, const Alert& alert, Topic as) {
  const bool ends = sink.kind->holds_open && is_over(alert);
  if (!ends && severity(alert) < sink.severity_min) return false;
  const auto matching = [&](const AlertFilter& filter) {
    return ends ? may_match(filter, alert, as) : matches(filter, alert, as);
  };
  if (sink.filters.empty()) return as != Topic::notice;
  return std::ranges::any_of(sink.filters, matching);
}

bool accepts(const SinkOptions& sink, const Alert& alert) {
  return accepts(sink, alert, topic(alert.kind));
}

Request make_request(const SinkOptions& sink, const std::vector<std::string>& stored) {
  Request request{
      sink.url, stored.empty() ? std::string() : stored.front(), {}, sink.ca, sink.timeout};
  if (sink.kind->complete != nullptr) sink.kind->complete(sink, stored, request);
  return request;
}

}  // namespace l4::alert
