#include "agent/daemon/nic_reporter.h"

#include <utility>

namespace l4::daemon {

NicReporter::NicReporter(const Settings& settings, const std::string& node,
                         nic::NicWatch::Stopwatch stopwatch) {
  if (!settings.nics_on) return;
  nic::NicWatch::Options options = settings.nics;
  options.node = node;
  watch_ = std::make_unique<nic::NicWatch>(std::move(options), std::move(stopwatch));
}

void NicReporter::poll(const Moment& now) {
  if (watch_) watch_->poll({now.steady, now.host.wall});
}

void NicReporter::publish(Jobs& jobs, const std::set<std::string>& living, bool room,
                          Millis steady) {
  if (!watch_ || steady < ship_at_) return;
  ship_at_ = steady + kShipEvery;
  wire::NicNews news = watch_->take();
  for (const wire::NicDefinition& one : news.definitions) known_[one.nic] = one;
  if (!room) {
    dropped_ += news.seconds.size() + news.rises.size();
    news.seconds.clear();
    news.rises.clear();
  }
  std::size_t given = 0;
  for (const std::string& job : jobs.lately(steady, kQuietMax, living)) {
    if (++given > kJobsMax) break;
    wire::NicNews own = news;
    if (told_.insert(job).second) {
      own.definitions.clear();
      for (const auto& [id, one] : known_) own.definitions.push_back(one);
    }
    if (!own.empty()) jobs.find(job)->nics(own);
  }
}

nic::NicWatch::Counts NicReporter::counts() const {
  return watch_ ? watch_->counts() : nic::NicWatch::Counts();
}

}  // namespace l4::daemon
