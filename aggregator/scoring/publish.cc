#include "aggregator/scoring/publish.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace l4::scoring {

void publish(const Services& services, const IncidentBook::Changes& changes) {
  std::set<std::string_view> stored;
  for (const alert::Alert& alert : changes.alerts) {
    // The last row of the incident, because a failed attempt may have been followed by a healthy
    // one.
    const auto row = std::ranges::find(changes.rows.rbegin(), changes.rows.rend(), alert.incident,
                                       &store::Incident::id);
    if (services.alert(alert, row == changes.rows.rend() ? nullptr : &*row))
      stored.insert(alert.incident);
  }
  for (const store::Incident& row : changes.rows) {
    if (stored.contains(row.id)) continue;
    if (const auto put = services.store.database().save(row); !put)
      services.warn(fmt::format("incident {}: not stored: {}", row.id, put.error().text()));
  }
}

}  // namespace l4::scoring
