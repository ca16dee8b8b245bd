// Notices about errors that network cards count.
//
// Place in the flow: notable.cc adds them to the others. One notice a card, for the counter that
// rose most; congestion, which healthy jobs see, is none. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/nics/nics.h"
#include "aggregator/diagnose/report.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

void add_nic_errors(const job::JobView& view, const detect::nics::Nics& nics,
                    std::vector<Notable>& notable);

}  // namespace l4::diagnose
