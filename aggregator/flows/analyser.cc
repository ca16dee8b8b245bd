#include "aggregator/flows/analyser.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "aggregator/flows/followed_job.h"
#include "aggregator/flows/learn.h"

namespace l4::flows {
namespace {

constexpr std::uint64_t kWriteMin = 100'000'000;  // bytes of one record: a checkpoint
constexpr std::size_t kWritesMax = 4096;
constexpr std::uint64_t kRare = 1'000;  // a lost record in so many does no harm
constexpr std::size_t kCountsEnough = 5;
constexpr std::uint64_t kWatched = 20'000;  // records whose packets are looked at

}  // namespace

Analyser::Analyser(const Topology& topology, const AnalyserSettings& settings)
    : topology_(&topology), settings_(settings), table_(topology, settings.rows_max) {}

Analyser::~Analyser() = default;

void Analyser::add(const FlowRecord& record) {
  ++records_;
  if (first_ == 0 || record.start < first_) first_ = record.start;
  now_ = std::max(now_, record.end);
  losses_.add(record);
  if (records_ <= kWatched) watch_packets(record.packets);
  if (record.bytes >= kWriteMin && topology_->is_storage(record.dst)) add_storage(record);
  const auto row = table_.add(record);
  if (!row) return;
  const Stream& stream = table_.streams()[row->stream];
  if (stream.job != kNone) return jobs_[stream.job]->add(*row, stream.unit);
  if (++since_learned_ >= settings_.rows_max) learn_now();
}

void Analyser::watch_packets(std::uint64_t packets) {
  common_packets_ = std::gcd(common_packets_, packets);
  if (packet_counts_.size() < kCountsEnough) packet_counts_.insert(packets);
}

/// Collectors scale sampled counts back, so that all of them are multiples of the rate. A few
/// counts have a common divisor by chance.
std::uint32_t Analyser::sampling() const {
  constexpr std::uint64_t kEnough = 200, kLeast = 16, kMost = 1 << 24;
  if (settings_.exporter.sampling > 1) return settings_.exporter.sampling;
  if (records_ < kEnough || packet_counts_.size() < kCountsEnough || common_packets_ < kLeast ||
      common_packets_ > kMost)
    return 1;
  return static_cast<std::uint32_t>(common_packets_);
}

void Analyser::announce(const ExporterSettings& told) {
  ExporterSettings& own = settings_.exporter;
  if (own.sampling <= 1 && told.sampling > 1) own.sampling = told.sampling;
  if (own.active == 0) own.active = told.active;
  if (own.inactive == 0) own.inactive = told.inactive;
}

void Analyser::add_storage(const FlowRecord& record) {
  const std::uint32_t server = topology_->server_of(record.src);
  if (server == kNone) return;
  writes_.push_back(record);
  if (writes_.size() > kWritesMax) writes_.pop_front();
  for (const auto& job : jobs_)
    if (job->has_server(server)) job->tracker().add_storage(record.start, record.end);
}

void Analyser::learn_now() {
  since_learned_ = 0;
  ExporterSettings exporter = settings_.exporter;
  exporter.sampling = sampling();
  exporter.is_lossy = losses_.lost() * kRare > records_;
  std::vector<JobPlan> plans = learn(table_, exporter);
  const auto first = static_cast<std::uint32_t>(jobs_.size());
  for (JobPlan& plan : plans) {
    if (jobs_.size() >= kJobsMax) break;
    const auto index = static_cast<std::uint32_t>(jobs_.size());
    jobs_.push_back(std::make_unique<FollowedJob>(std::move(plan), table_, losses_, exporter));
    FollowedJob& job = *jobs_.back();
    const auto& units = job.tracker().units();
    for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
      Stream& stream = table_.stream(units[unit].stream);
      stream.job = index;
      stream.unit = unit;
    }
    for (const FlowRecord& write : writes_)
      if (job.has_server(topology_->server_of(write.src)))
        job.tracker().add_storage(write.start, write.end);
  }
  replay(first);
}

/// Hands the kept rows of the jobs from `first` on to them, by their ends: exporters send when they
/// please, and files may come one after another.
void Analyser::replay(std::uint32_t first) {
  struct Kept {
    TimeNs end;
    std::size_t place;
  };
  struct Place {
    std::uint32_t job, unit;
  };
  std::vector<Place> places;  // of each stream: smaller than streams, since rows jump between them
  places.reserve(table_.streams().size());
  for (const Stream& stream : table_.streams())
    places.push_back({stream.job >= first ? stream.job : kNone, stream.unit});
  const RowStore& rows = table_.rows();
  std::vector<Kept> kept;
  kept.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (places[rows[i].stream].job != kNone) kept.push_back({rows[i].end, i});
  sort_by_end(kept);
  for (const Kept& one : kept) {
    const Row& row = rows[one.place];
    jobs_[places[row.stream].job]->add(row, places[row.stream].unit);
  }
}

FlowReport Analyser::finish() {
  learn_now();
  FlowReport report;
  for (const auto& job : jobs_) {
    TimeNs others = 0;
    for (const auto& other : jobs_)
      if (other != job)  // its last step may have been the last of the capture
        others = std::max(others, other->tracker().last_row() - other->tracker().period());
    job->finish(now_, others);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) report.jobs.push_back(jobs_[i]->flows(i));
  report.records = records_;
  report.lost = losses_.lost();
  report.loss_is_known = losses_.is_known();
  report.unplaced = table_.unplaced();
  report.streams = table_.streams().size();
  report.cards = table_.cards().size();
  report.first = first_;
  report.last = now_;
  return report;
}

}  // namespace l4::flows
