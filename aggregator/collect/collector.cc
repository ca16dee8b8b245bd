#include "aggregator/collect/collector.h"

#include <fmt/format.h>

#include <utility>

#include "aggregator/collect/network_facts.h"
#include "aggregator/flows/decode/topology_file.h"

namespace l4::collect {
namespace {

constexpr Millis kLookEvery{1'000}, kWaitMost{200};
// Learning takes .3 to 1 us a row, in which the kernel holds what comes: 100,000 to 300,000 rows a
// turn are some tenths of a second, 2 to 7 MB at 500,000 records a second.
constexpr std::size_t kLearnedAtOnce = 200'000;

flows::TimeNs nanoseconds(Millis span) {
  return flows::TimeNs{span.count()} * flows::kMillisecond;
}

flows::AnalyserSettings analyser_settings(const CollectOptions& options) {
  flows::AnalyserSettings settings{options.exporter, options.rows_max, {}};
  settings.kept = FlowCollector::kKept;
  settings.learns_when_asked = true;
  return settings;
}

}  // namespace

Result<std::unique_ptr<FlowCollector>> FlowCollector::open(const CollectOptions& options,
                                                           Hooks hooks) {
  flows::Topology topology;
  if (!options.topology.empty()) {
    auto read = flows::decode::read_topology(options.topology);
    if (!read) return std::unexpected(read.error());
    topology = std::move(*read);
  }
  auto datagrams = Datagrams::open(options.listen, options.buffer_bytes);
  if (!datagrams) return std::unexpected(datagrams.error());
  if ((*datagrams)->buffer_bytes() < options.buffer_bytes)
    hooks.warn(fmt::format(
        "flow records: the kernel holds {} KiB for the socket, not {}; raise net.core.rmem_max",
        (*datagrams)->buffer_bytes() >> 10, options.buffer_bytes >> 10));
  return std::unique_ptr<FlowCollector>(
      new FlowCollector(options, std::move(hooks), std::move(topology), std::move(*datagrams)));
}

FlowCollector::FlowCollector(const CollectOptions& options, Hooks hooks, flows::Topology topology,
                             std::unique_ptr<Datagrams> datagrams)
    : options_(options),
      hooks_(std::move(hooks)),
      topology_(std::move(topology)),
      datagrams_(std::move(datagrams)),
      decoder_(exporters_),
      analyser_(topology_, analyser_settings(options_)),
      sink_([this](const flows::FlowRecord& record) { add(record); }),
      calls_(kCallsMax) {
  for (const std::string& exporter : options_.exporters)
    if (const auto address = flows::parse_address(exporter)) allowed_.insert(*address);
  own_.on = true;
  own_.buffer_bytes = datagrams_->buffer_bytes();
  looked_ = learned_ = heard_ = hooks_.now();
  if (hooks_.steady) stepped_ = hooks_.steady().count();
  publish();
}

void FlowCollector::take(const flows::Address& from, std::string_view bytes) {
  ++own_.datagrams;
  own_.bytes += bytes.size();
  if (!allowed_.empty() && !allowed_.contains(from)) {
    ++own_.strangers;
    return;
  }
  if (last_name_.empty() || from != last_from_) {
    last_from_ = from;
    last_name_ = flows::to_text(from);
  }
  heard_ = wall_;
  decoder_.message(bytes, last_name_, last_name_, sink_);
}

void FlowCollector::add(const flows::FlowRecord& record) {
  // A clock that is ahead would make all jobs look silent.
  if (record.end > latest_allowed_) {
    ++own_.ahead;
    return;
  }
  analyser_.add(record);
}

void FlowCollector::step(Millis most) {
  constexpr Millis kAhead{60'000};
  wall_ = hooks_.now();
  if (hooks_.steady) stepped_ = hooks_.steady().count();
  latest_allowed_ = nanoseconds((wall_ + kAhead).time_since_epoch());
  auto busy_from = std::chrono::steady_clock::now();
  bool is_first = true;
  const bool is_idle = datagrams_->take(is_learning_ ? Millis{0} : most,
                                        [&](const flows::Address& from, std::string_view bytes) {
                                          if (is_first)
                                            busy_from = std::chrono::steady_clock::now();
                                          is_first = false;
                                          take(from, bytes);
                                        });
  if (is_first) busy_from = std::chrono::steady_clock::now();
  wall_ = hooks_.now();
  if (wall_ - looked_ >= kLookEvery) look_after();
  // What has come goes first, unless there is no end of it.
  if (is_learning_ && (is_idle || wall_ - learned_some_ >= kLookEvery)) learn_some();
  while (auto call = calls_.try_pop()) (*call)(*this);
  busy_ += std::chrono::steady_clock::now() - busy_from;
  publish();
}

/// Learns where it is due, and judges who is silent.
void FlowCollector::look_after() {
  looked_ = wall_;
  analyser_.announce(decoder_.announced());
  const flows::TimeNs now = analyser_.now() + nanoseconds(wall_ - heard_);
  if (analyser_.now() != 0) analyser_.watch(now, nanoseconds(options_.forget_after));
  if (analyser_.now() != 0 && hooks_.looked) hooks_.looked(*this);
  const auto& told = decoder_.counts().told;
  for (; told_ < told.size(); ++told_) hooks_.warn("flow records: " + told[told_].text());
  const bool is_due = analyser_.now() - learned_to_ >= nanoseconds(options_.learn_every) ||
                      wall_ - learned_ >= options_.learn_every || analyser_.is_full();
  if (!is_due || is_learning_ || analyser_.now() == 0) return;
  learned_ = wall_;
  learned_to_ = analyser_.now();
  jobs_before_ = analyser_.counts().jobs;
  analyser_.begin_learning();
  is_learning_ = true;
}

void FlowCollector::learn_some() {
  learned_some_ = wall_;
  is_learning_ = analyser_.learn_some(kLearnedAtOnce);
  if (is_learning_) return;
  if (const std::uint64_t jobs = analyser_.counts().jobs; jobs != jobs_before_)
    hooks_.say(fmt::format("flow records: {} jobs, before {}", jobs, jobs_before_));
}

void FlowCollector::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) step(kWaitMost);
  calls_.close();
  while (auto call = calls_.try_pop()) (*call)(*this);
}

bool FlowCollector::call(Call call) {
  if (!calls_.try_push(std::move(call))) return false;
  wake();
  return true;
}

std::vector<flows::JobFlows> FlowCollector::jobs() const {
  std::vector<flows::JobFlows> all;
  for (const auto& job : analyser_.jobs())
    if (job != nullptr) all.push_back(job->flows());
  return all;
}

std::vector<detect::network::Network> FlowCollector::networks() const {
  const flows::TimeNs now = analyser_.now() + nanoseconds(wall_ - heard_);
  std::vector<detect::network::Network> all;
  for (const auto& job : analyser_.jobs())
    if (job != nullptr) all.push_back(network_of(job->brief(), topology_, now, job->steps()));
  return all;
}

void FlowCollector::publish() {
  CollectCounts counts = own_;
  counts.busy = std::chrono::duration_cast<Millis>(busy_);
  counts.dropped = datagrams_->dropped();
  counts.bad = decoder_.counts().bad + datagrams_->cut();
  counts.unknown = decoder_.counts().unknown;
  counts.exporters = exporters_.names().size();
  counts.flows = analyser_.counts();
  const MutexLock lock(mutex_);
  published_ = counts;
}

CollectCounts FlowCollector::counts() const {
  const MutexLock lock(mutex_);
  return published_;
}

}  // namespace l4::collect
