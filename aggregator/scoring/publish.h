// Alerts and rows of incidents that books have made, stored and sent.
//
// Flow: IncidentBook, NoticeBook -> Changes -> here -> the store, the alerter. An incident and its
// alert are stored together: a crash leaves both or neither, and undelivered alerts are delivered
// later. Any thread, as far as the services are.
#pragma once

#include "aggregator/scoring/incident_book.h"
#include "aggregator/scoring/services.h"

namespace l4::scoring {

/// What cannot be stored is told by services.warn.
void publish(const Services& services, const IncidentBook::Changes& changes);

}  // namespace l4::scoring
