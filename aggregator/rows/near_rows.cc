#include "aggregator/rows/near_rows.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "aggregator/rows/answers.h"
#include "aggregator/serve/utf8.h"

namespace l4::rows {
namespace {

constexpr std::size_t kNearMax = 3, kEventsAsked = 4, kTemplateMax = 4'096;

/// A known fault, and the event that is most like it.
struct NearFault {
  faults::Likeness::Near of;
  const diagnose::IndicatingEvent* event = nullptr;
};

std::vector<NearFault> near_faults(const diagnose::Report& report, const faults::Library& library,
                                   const std::function<bool(const faults::Fault&)>& may_see) {
  std::vector<NearFault> found;
  std::size_t asked = 0;
  for (const diagnose::IndicatingEvent& event : report.events) {
    if (event.role == Role::consequence) continue;
    if (asked++ == kEventsAsked) break;
    for (auto& near : library.likeness().near(event.text, 2 * kNearMax)) {
      if (may_see && !may_see(*near.fault)) continue;
      const auto known =
          std::ranges::find(found, near.fault, [](const NearFault& one) { return one.of.fault; });
      if (known == found.end())
        found.push_back({std::move(near), &event});
      else if (known->of.likeness < near.likeness)
        *known = {std::move(near), &event};
    }
  }
  std::ranges::stable_sort(found, std::greater<>{},
                           [](const NearFault& one) { return one.of.likeness; });
  found.resize(std::min(found.size(), kNearMax));
  return found;
}

}  // namespace

void write_near_faults(serve::JsonWriter& to, const diagnose::Report& report,
                       const faults::Library& library,
                       const std::function<bool(const faults::Fault&)>& may_see) {
  to.open('{').key("faults").open('[');
  for (const NearFault& near : near_faults(report, library, may_see)) {
    write(to.open('{').key("fault"), *near.of.fault, false);
    to.member("likeness", near.of.likeness).member("shared", near.of.shared);
    to.member("template_id", to_string(near.event->id));
    to.member("template", serve::cut(near.event->text, kTemplateMax)).close('}');
  }
  to.close(']').close('}');
}

}  // namespace l4::rows
