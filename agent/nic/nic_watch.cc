#include "agent/nic/nic_watch.h"

#include <algorithm>
#include <utility>

namespace l4::nic {
namespace {

/// How often a counter that goes on rising is told of.
constexpr Millis kFaultEvery{5'000}, kCongestionEvery{30'000};
constexpr int kQuickEnough = 50;  // reads before a card that was slow is read more often

/// The next multiple of `every` on the wall clock, so that intervals end where tenths do.
Millis next_due(const Moment& now, Millis every) {
  const auto past = now.wall.time_since_epoch() % every;
  return now.steady + (every - past);
}

}  // namespace

NicWatch::NicWatch(Options options, Stopwatch stopwatch)
    : options_(std::move(options)), stopwatch_(std::move(stopwatch)) {}

std::chrono::microseconds NicWatch::elapsed() const {
  return stopwatch_ ? stopwatch_() : std::chrono::microseconds{0};
}

void NicWatch::poll(const Moment& now) {
  if (now.steady < due_at_) return;
  if (now.steady >= scan_at_) scan(now);
  due_at_ = scan_at_;
  std::erase_if(nics_, [&](Watched& nic) {
    bool there = true;
    if (now.steady >= nic.due) {
      there = read_data(nic, now);
      if (there && now.steady >= nic.errors_due) read_errors(nic, now);
    }
    counts_.lost += there ? 0 : 1;
    if (there) due_at_ = std::min(due_at_, nic.due);
    return !there;
  });
}

void NicWatch::scan(const Moment& now) {
  scan_at_ = now.steady + kScanEvery;
  gpus_ = find_gpus(options_.root);
  const auto found = find_devices(options_.root, options_.choice);
  std::erase_if(nics_, [&](const Watched& nic) {
    return std::ranges::find(found, nic.device.folder) == found.end();
  });
  counts_.left_out = 0;
  for (const auto& folder : found)
    if (std::ranges::none_of(nics_,
                             [&](const Watched& nic) { return nic.device.folder == folder; }))
      open(folder, now);
}

void NicWatch::open(const std::filesystem::path& folder, const Moment& now) {
  Device device = open_device(options_.root, folder);
  if (!device.sent.is_open() || !device.received.is_open()) return;
  device.facts.name = device.facts.name.substr(0, wire::kNicNameBytesMax);
  device.facts.driver = device.facts.driver.substr(0, wire::kNicNameBytesMax);
  const auto known = ids_.find(device.facts.name);
  if (known == ids_.end() && ids_.size() >= wire::kNicsMax) {
    ++counts_.left_out;
    return;
  }
  device.facts.nic = known != ids_.end() ? known->second : static_cast<std::uint16_t>(ids_.size());
  ids_.emplace(device.facts.name, device.facts.nic);
  device.facts.node = options_.node;
  device.facts.local_ranks = nearest_gpus(device.hardware, gpus_);
  if (!device.facts.local_ranks.empty()) device.facts.ranks_by = wire::NicRanksBy::pci_distance;
  news_.definitions.push_back(device.facts);
  SecondMeter meter({device.unit, device.facts.rate_mbps, options_.busy_bytes});
  Watched nic{std::move(device), meter};
  nic.id = nic.device.facts.nic;
  nic.every = Millis{1000 / options_.samples_per_s};
  nic.seen.resize(nic.device.counters.size());
  nic.due = nic.errors_due = now.steady;
  nics_.push_back(std::move(nic));
}

/// False: the card is gone.
bool NicWatch::read_data(Watched& nic, const Moment& now) {
  const auto begin = elapsed();
  const auto sent = nic.device.sent.read();
  const auto received = nic.device.received.read();
  const auto took = elapsed() - begin;
  counts_.reads += 2;
  counts_.reading += took;
  if (!sent || !received) return false;
  const Millis fastest{1000 / options_.samples_per_s};
  if (took > 2 * kSlow) {
    ++counts_.slow_reads;
    nic.quick = 0;
    nic.every = std::min(2 * nic.every, kSlowest);
  } else if (nic.every > fastest && ++nic.quick >= kQuickEnough) {
    nic.quick = 0;
    nic.every = std::max(nic.every / 2, fastest);
  }
  nic.due = next_due(now, nic.every);
  const std::uint64_t wraps = nic.meter.wraps(), resets = nic.meter.resets();
  nic.meter.add({now.wall, now.steady, *sent, *received}, [&](wire::NicSecond second) {
    second.nic = nic.id;
    news_.seconds.push_back(second);
    ++counts_.seconds;
  });
  counts_.wraps += nic.meter.wraps() - wraps;
  counts_.resets += nic.meter.resets() - resets;
  drop_oldest();
  return true;
}

void NicWatch::read_errors(Watched& nic, const Moment& now) {
  const auto begin = elapsed();
  for (std::size_t i = 0; i < nic.device.counters.size(); ++i)
    if (const auto total = nic.device.counters[i].file.read()) note_rise(nic, i, *total, now);
  const auto took = elapsed() - begin;
  const std::size_t files = nic.device.counters.size();
  counts_.reads += files;
  counts_.reading += took;
  const bool slow = took > kSlow * static_cast<std::int64_t>(std::max<std::size_t>(files, 1));
  counts_.slow_reads += slow ? 1 : 0;
  nic.errors_every = slow ? std::min(2 * nic.errors_every, kErrorsSlowest)
                          : std::max(nic.errors_every / 2, kErrorsEvery);
  nic.errors_due = now.steady + nic.errors_every - nic.every / 2;
}

/// A counter that fell was set back: what it had is forgotten.
void NicWatch::note_rise(Watched& nic, std::size_t counter, std::uint64_t total,
                         const Moment& now) {
  Watched::Seen& seen = nic.seen[counter];
  if (std::exchange(seen.known, true) && total > seen.total) seen.pending += total - seen.total;
  seen.total = total;
  if (seen.pending == 0) return;
  const bool fault = nic.device.counters[counter].weight == Weight::fault;
  if (seen.was_told && now.steady - seen.told < (fault ? kFaultEvery : kCongestionEvery)) return;
  news_.rises.push_back(
      {now.wall, nic.id, nic.device.counters[counter].name, fault, seen.pending, total});
  ++counts_.rises;
  seen = {total, 0, now.steady, true, true};
}

/// Nobody may take the news, as while no job runs.
void NicWatch::drop_oldest() {
  const auto cut = [&](auto& list) {
    if (list.size() <= kNewsMax) return;
    const std::size_t many = list.size() - kNewsMax / 2;
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(many));
    counts_.dropped += many;
  };
  cut(news_.seconds);
  cut(news_.rises);
}

wire::NicNews NicWatch::take() {
  return std::exchange(news_, {});
}

void NicWatch::define_again() {
  news_.definitions.clear();
  for (const Watched& nic : nics_) news_.definitions.push_back(nic.device.facts);
}

NicWatch::Counts NicWatch::counts() const {
  Counts counts = counts_;
  counts.nics = nics_.size();
  const Millis fastest{1000 / options_.samples_per_s};
  counts.backed_off = static_cast<std::size_t>(
      std::ranges::count_if(nics_, [&](const Watched& nic) { return nic.every > fastest; }));
  return counts;
}

}  // namespace l4::nic
