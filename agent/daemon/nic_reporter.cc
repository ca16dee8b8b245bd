#include "agent/daemon/nic_reporter.h"

#include <utility>

namespace l4::daemon {

NicReporter::NicReporter(const Settings& settings, const std::string& node,
                         nic::NicWatch::Stopwatch stopwatch)
    : node_(node) {
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
    pipeline::JobPipeline& pipeline = *jobs.find(job);
    const std::uint64_t version = pipeline.nccl_cards().version();
    wire::NicNews own = news;
    const auto [told, is_new] = told_.try_emplace(job, version);
    if (is_new || std::exchange(told->second, version) != version) {
      own.definitions.clear();
      for (const auto& [id, one] : known_) own.definitions.push_back(one);
    }
    for (wire::NicDefinition& one : own.definitions) add_ranks(one, pipeline.nccl_cards());
    if (!own.empty()) pipeline.nics(own);
  }
}

/// Lines of NCCL name the cards that are used; PCI tells only which would be best.
void NicReporter::add_ranks(wire::NicDefinition& card, const pipeline::NcclCards& cards) const {
  pipeline::NcclCards::Users users = cards.users(node_, card.name);
  if (users.empty()) return;
  card.ranks = std::move(users.ranks);
  card.local_ranks = std::move(users.local_ranks);
  card.ranks_by = wire::NicRanksBy::nccl_lines;
}

nic::NicWatch::Counts NicReporter::counts() const {
  return watch_ ? watch_->counts() : nic::NicWatch::Counts();
}

}  // namespace l4::daemon
