#include "aggregator/rows/nic_rows.h"

#include <string>

#include "aggregator/cards/nic_table.h"

namespace l4::rows {
namespace {

using detect::nics::Nic;

std::optional<std::string_view> if_known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

const char* how_known(wire::NicRanksBy by) {
  switch (by) {
    case wire::NicRanksBy::pci_distance:
      return "pci_distance";
    case wire::NicRanksBy::nccl_lines:
      return "nccl_lines";
    case wire::NicRanksBy::none:
      return "only_card";
  }
  return "";
}

std::string written(const job::JobView& view, const Nic& nic) {
  const wire::NicDefinition& facts = nic.history->facts;
  serve::JsonWriter text;
  text.open('{').member("node", view.nodes[nic.node].name).member("nic", facts.name);
  text.member("kind", facts.kind == wire::NicKind::infiniband ? "infiniband" : "ethernet");
  text.member("driver", if_known(facts.driver)).member("pci", if_known(facts.pci));
  text.member("rate_mbps", facts.rate_mbps > 0 ? std::optional(facts.rate_mbps) : std::nullopt);
  text.member("ranks", nic.ranks);
  text.member("ranks_by", nic.ranks.empty() ? "none" : how_known(facts.ranks_by));
  text.member("activity", detect::nics::name(nic.activity));
  text.member("known_until", nic.known_until).member("last_active", nic.last_active);
  text.member("last_sent", nic.last_sent).member("period_s", nic.period_s);
  text.member("bytes_per_s", nic.bytes_per_s).member("recent_part", nic.recent_part);
  text.key("rises").open('[');
  for (const detect::nics::Rise& rise : nic.rises) {
    text.open('{').member("counter", rise.counter).member("fault", rise.fault);
    text.member("rise", rise.rise).member("first", rise.first).member("last", rise.last);
    text.close('}');
  }
  text.close(']').close('}');
  return text.release();
}

}  // namespace

void write(serve::JsonWriter& to, std::string_view job, const job::JobView& view,
           const detect::nics::Nics& nics) {
  constexpr std::size_t kEnd = 64;  // bytes behind the cards
  to.open('{').member("job", job).member("attempt", view.attempt);
  to.member("period_s", nics.period_s).member("period_before_s", nics.period_before_s);
  to.member("deadline_s", static_cast<double>(nics.deadline.count()) / 1000);
  to.member("silent", nics.silent).member("silent_since", nics.silent_since);
  to.key("first").open('[');
  for (const std::uint32_t i : nics.first)
    to.open('{')
        .member("node", view.nodes[nics.nics[i].node].name)
        .member("nic", nics.nics[i].history->facts.name)
        .close('}');
  to.close(']').key("lead_s");
  if (nics.lead)
    to.value(static_cast<double>(nics.lead->count()) / 1000);
  else
    to.raw("null");
  to.member("slowed", nics.slowed).member("slow_ratio", nics.slow_ratio);
  to.key("nics").open('[');
  std::size_t count = 0;
  for (; count < nics.nics.size(); ++count) {
    const std::string row = written(view, nics.nics[count]);
    if (to.size() + row.size() + kEnd > kNicBytesMax) break;
    to.raw(row);
  }
  to.close(']').member("left_out", nics.nics.size() - count).close('}');
}

}  // namespace l4::rows
