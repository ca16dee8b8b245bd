#include "aggregator/flows/analyser.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

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
  const auto row = table_.add(record);
  if (!row) return add_other(record);
  const Stream& stream = table_.streams()[row->stream];
  if (stream.job != kNone) return jobs_[stream.job]->add(*row, stream.unit);
  ++since_learned_;
  if (is_full() && !settings_.learns_when_asked) learn_now();
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

/// What carries no training: checkpoints go out of the front ends of servers.
void Analyser::add_other(const FlowRecord& record) {
  const bool is_write = topology_->is_storage(record.dst);
  if (is_write || topology_->is_front_end(record.src) || topology_->is_front_end(record.dst))
    losses_.note_storage(record.exporter);
  if (is_write && record.bytes >= kWriteMin) add_storage(record);
}

void Analyser::add_storage(const FlowRecord& record) {
  const std::uint32_t server = topology_->server_of(record.src);
  if (server == kNone) return;
  writes_.push_back(record);
  if (writes_.size() > kWritesMax) writes_.pop_front();
  for (const auto& job : jobs_)
    if (job != nullptr && job->has_server(server))
      job->tracker().add_storage(record.start, record.end);
}

ExporterSettings Analyser::told_and_seen() const {
  ExporterSettings exporter = settings_.exporter;
  exporter.sampling = sampling();
  exporter.is_lossy = losses_.lost() * kRare > records_;
  return exporter;
}

void Analyser::learn_of(const StreamList& streams) {
  const ExporterSettings exporter = told_and_seen();
  std::set<std::uint32_t> made;
  for (JobPlan& plan : learn(table_, streams, exporter))
    if (const std::uint32_t job = add_job(std::move(plan), exporter); job != kNone)
      made.insert(job);
  replay(made);
}

void Analyser::learn_now() {
  since_learned_ = 0;
  learn_of(free_streams(table_));
}

void Analyser::begin_learning() {
  since_learned_ = 0;
  outgrown_ = outgrown();
  auto parts = parts_to_learn(table_, told_and_seen(), outgrown_);
  to_learn_.assign(std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

/// Each turn passes over all kept rows: several small parts go together.
bool Analyser::learn_some(std::size_t rows_max) {
  StreamList streams;
  std::uint64_t rows = 0;
  while (!to_learn_.empty() && rows < rows_max) {
    for (const std::uint32_t index : to_learn_.front()) {
      rows += table_.streams()[index].rows;
      if (const std::uint32_t job = table_.streams()[index].job; outgrown_.contains(job))
        release(job);
    }
    streams.insert(streams.end(), to_learn_.front().begin(), to_learn_.front().end());
    to_learn_.pop_front();
  }
  std::ranges::sort(streams);
  if (!streams.empty()) learn_of(streams);
  return !to_learn_.empty();
}

/// Index of the job; kNone if there is no room.
std::uint32_t Analyser::add_job(JobPlan plan, const ExporterSettings& exporter) {
  const auto at = std::ranges::find_if(jobs_, [](const auto& job) { return job == nullptr; });
  const auto index = static_cast<std::uint32_t>(at - jobs_.begin());
  if (index >= kJobsMax) return kNone;
  if (at == jobs_.end()) jobs_.emplace_back();
  std::string name = name_for(plan);
  jobs_[index] = std::make_unique<FollowedJob>(std::move(name), std::move(plan), table_, losses_,
                                               exporter, settings_.kept);
  FollowedJob& job = *jobs_[index];
  const auto& units = job.tracker().units();
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
    Stream& stream = table_.stream(units[unit].stream);
    stream.job = index;
    stream.unit = unit;
  }
  for (const FlowRecord& write : writes_)
    if (job.has_server(topology_->server_of(write.src)))
      job.tracker().add_storage(write.start, write.end);
  return index;
}

/// A job that is learned anew keeps its name: that of which it has most cards, unless another job
/// has the name now.
std::string Analyser::name_for(const JobPlan& plan) {
  constexpr auto kPrefix = "flows-";
  std::map<std::uint64_t, std::size_t> cards;
  for (const std::uint32_t card : plan.cards)
    if (const auto known = named_.find(card); known != named_.end()) ++cards[known->second];
  std::uint64_t number = 0;
  for (const auto& [known, count] : cards)
    if (count * 2 > plan.cards.size()) number = known;
  const std::string before = kPrefix + std::to_string(number);
  if (number == 0 || std::ranges::any_of(jobs_, [&](const auto& job) {
        return job != nullptr && job->name() == before;
      }))
    number = ++names_;
  for (const std::uint32_t card : plan.cards) named_[card] = number;
  return kPrefix + std::to_string(number);
}

namespace {

/// A row on its way to its job.
struct Handed {
  TimeNs end;
  std::uint32_t place, stream;
};

}  // namespace

/// Hands the kept rows of new jobs to them, by their ends: exporters send when they please, and
/// files may come one after another. Of a batch of rows those wait that end behind the first end
/// of all later batches, so that a few are held at a time where rows are nearly in order.
void Analyser::replay(const std::set<std::uint32_t>& made) {
  constexpr std::size_t kBatch = 1 << 14;
  struct Place {
    std::uint32_t job, unit;
  };
  if (made.empty()) return;
  std::vector<Place> places;  // of each stream: smaller than streams, since rows jump between them
  places.reserve(table_.streams().size());
  for (const Stream& stream : table_.streams())
    places.push_back({made.contains(stream.job) ? stream.job : kNone, stream.unit});
  const RowStore& rows = table_.rows();
  const std::size_t batches = (rows.size() + kBatch - 1) / kBatch;
  std::vector<TimeNs> earliest(batches + 1, std::numeric_limits<TimeNs>::max());
  for (std::size_t i = rows.size(); i-- > 0;) {
    TimeNs& own = earliest[i / kBatch];
    if ((i + 1) % kBatch == 0) own = earliest[i / kBatch + 1];
    own = std::min(own, rows[i].end);
  }
  std::vector<Handed> waiting;
  waiting.reserve(2 * kBatch);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::size_t i = batch * kBatch; i < std::min(rows.size(), (batch + 1) * kBatch); ++i)
      if (places[rows[i].stream].job != kNone)
        waiting.push_back({rows[i].end, static_cast<std::uint32_t>(i), rows[i].stream});
    sort_by_end(waiting);
    std::size_t over = 0;
    for (; over < waiting.size() && waiting[over].end <= earliest[batch + 1]; ++over) {
      constexpr std::size_t kAhead = 8;
      if (over + kAhead < waiting.size()) __builtin_prefetch(&rows[waiting[over + kAhead].place]);
      const Place& to = places[waiting[over].stream];
      jobs_[to.job]->add(rows[waiting[over].place], to.unit);
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(over));
  }
  for (const std::uint32_t job : made) jobs_[job]->set_learned();
}

void Analyser::release(std::uint32_t index) {
  for (const auto& unit : jobs_[index]->tracker().units()) {
    Stream& stream = table_.stream(unit.stream);
    stream.job = stream.unit = kNone;
  }
  jobs_[index].reset();
  outgrown_.erase(index);
}

/// The first steps of a job may mislead: jobs are learned anew each time that twice as many rows
/// have come as they were learned from, while all of their rows are kept; later those without a
/// step clock, and those of whose cards some have further streams that carry as much as training
/// does.
std::set<std::uint32_t> Analyser::outgrown() const {
  constexpr std::uint64_t kBytesMin = 1 << 20, kRowsMin = 16;
  const bool has_all = table_.rows().pushed() == table_.rows().size();
  std::map<std::uint32_t, std::uint32_t> job_of;  // by card
  std::set<std::uint32_t> outgrown;
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i] == nullptr || jobs_[i]->rows() < 2 * jobs_[i]->learned_from()) continue;
    if (has_all || jobs_[i]->tracker().period() == 0) outgrown.insert(i);
    for (const std::uint32_t card : jobs_[i]->tracker().plan().cards) job_of[card] = i;
  }
  for (const Stream& stream : table_.streams()) {
    if (stream.job != kNone || stream.rows < kRowsMin || stream.bytes < kBytesMin) continue;
    for (const std::uint32_t card : {stream.src_card, stream.dst_card})
      if (const auto job = job_of.find(card); job != job_of.end()) outgrown.insert(job->second);
  }
  return outgrown;
}

/// Of each job until when the others went on: its last step may have been the last of all.
std::vector<TimeNs> Analyser::others() const {
  TimeNs latest = 0, second = 0;
  const auto until = [](const FollowedJob& job) {
    return job.tracker().last_row() - job.tracker().period();
  };
  for (const auto& job : jobs_) {
    if (job == nullptr) continue;
    second = std::max(second, std::min(latest, until(*job)));
    latest = std::max(latest, until(*job));
  }
  std::vector<TimeNs> others;
  others.reserve(jobs_.size());
  for (const auto& job : jobs_)
    others.push_back(job != nullptr && until(*job) == latest ? second : latest);
  return others;
}

void Analyser::watch(TimeNs now, TimeNs forget) {
  const std::vector<TimeNs> until = others();
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i] == nullptr) continue;
    if (jobs_[i]->tracker().last_row() + forget < now)
      release(i);
    else
      jobs_[i]->watch(now, until[i]);
  }
  table_.drop_silent(now - forget);
}

void Analyser::learn_further() {
  for (const std::uint32_t job : outgrown()) release(job);
  learn_now();
}

AnalyserCounts Analyser::counts() const {
  AnalyserCounts counts{records_,
                        losses_.lost(),
                        table_.unplaced(),
                        table_.bytes(),
                        table_.streams().size(),
                        table_.cards().size(),
                        0,
                        0,
                        0};
  for (const auto& job : jobs_) {
    if (job == nullptr) continue;
    ++counts.jobs;
    counts.silent_jobs += job->is_silent() ? 1 : 0;
    counts.findings += job->findings();
  }
  return counts;
}

FlowReport Analyser::finish() {
  learn_now();
  FlowReport report;
  const std::vector<TimeNs> until = others();
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (jobs_[i] != nullptr) jobs_[i]->finish(now_, until[i]);
  for (const auto& job : jobs_)
    if (job != nullptr) report.jobs.push_back(job->flows());
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
