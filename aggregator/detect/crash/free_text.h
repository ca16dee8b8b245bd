// Sources in which words alone prove nothing: what a model generated, samples of a data set, prose.
//
// Place in the flow: failure_events asks before it believes a line whose words alone sound like a
// failure. Free text shows itself by its variety: ever new lines of it speak of failures while the
// job goes on, and those at the end are no more than these let expect. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// By JobView::streams.
std::vector<bool> find_free_text(const job::JobView& view, const std::vector<EventHint>& hints);

}  // namespace l4::detect::crash
