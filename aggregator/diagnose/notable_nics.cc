#include "aggregator/diagnose/notable_nics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "aggregator/cards/nic_table.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

/// Single errors of a line are no news over hours; a link that went down is.
constexpr std::uint64_t kErrorsLeast = 10;

bool is_telling(const detect::nics::Rise& rise) {
  const std::string_view name = rise.counter;
  const bool link =
      name == "link_downed" || name == "carrier_changes" || name == "link_error_recovery";
  return rise.fault && (link || rise.rise >= kErrorsLeast);
}

}  // namespace

void add_nic_errors(const job::JobView& view, const detect::nics::Nics& nics,
                    std::vector<Notable>& notable) {
  for (const detect::nics::Nic& nic : nics.nics) {
    const detect::nics::Rise* worst = nullptr;
    for (const detect::nics::Rise& rise : nic.rises)
      if (is_telling(rise) && (worst == nullptr || rise.rise > worst->rise)) worst = &rise;
    if (worst == nullptr) continue;
    Notable one;
    one.kind = "nic_errors";
    one.node = view.nodes[nic.node].name;
    if (nic.ranks.size() == 1) one.rank = nic.ranks.front();
    one.value = Printed{static_cast<double>(worst->rise)};
    one.count = worst->rise;
    one.text = fmt::format(
        "Network card {} on {} counts errors (hardware, network): {} rose by {} "
        "since {}.",
        nic.history->facts.name, *one.node, worst->counter, worst->rise, to_rfc3339(worst->first));
    notable.push_back(std::move(one));
  }
}

}  // namespace l4::diagnose
