#include <array>

#include "aggregator/alert/alertmanager.h"
#include "aggregator/alert/exec.h"
#include "aggregator/alert/pagerduty.h"
#include "aggregator/alert/sink_kind.h"
#include "aggregator/alert/slack.h"
#include "aggregator/alert/webhook.h"

namespace l4::alert {

std::span<const SinkKind* const> sink_kinds() {
  static constexpr std::array kKinds{
      &kAlertmanager, &kWebhook, &kSlack, &kPagerDuty, &kExec,
  };
  return kKinds;
}

}  // namespace l4::alert
