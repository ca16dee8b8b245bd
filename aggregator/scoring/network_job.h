// A job of which only the network is known: no agent reads its logs. Its incidents and notices.
//
// Flow: NetworkDesk gives what the network shows of it, about each second; this makes a report of
// it, and the books of a job with logs make incidents and alerts of that. Nothing is sent from
// here. One owner, one thread; it reads no clock.
#pragma once

#include <string>
#include <utility>

#include "aggregator/detect/network/network.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/scoring/incident_book.h"
#include "aggregator/scoring/notice_book.h"

namespace l4::scoring {

/// The report of a job of which only the network is known.
diagnose::Report report_of(const detect::network::Network& network);

class NetworkJob {
 public:
  NetworkJob(const std::string& name, IncidentBook::Options options)
      : book_(name, options, store::kOfNetwork), notices_(name) {}

  IncidentBook::Changes seen(const detect::network::Network& network, TimeMs now);
  /// The job is no longer followed, or its logs are read now.
  IncidentBook::Changes close(const std::string& why, TimeMs now);
  bool has_open() const { return book_.has_open(); }

 private:
  IncidentBook book_;
  NoticeBook notices_;
  diagnose::Report last_;
};

}  // namespace l4::scoring
