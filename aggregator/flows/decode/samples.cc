#include "aggregator/flows/decode/samples.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace l4::flows::decode {

void Samples::add(const FlowRecord& record) {
  if (is_decided_) return pass(record);
  first_.push_back(record);
  if (first_.size() >= kProbe) decide();
}

void Samples::finish() {
  if (!is_decided_) decide();
  close_before(std::numeric_limits<TimeNs>::max());
}

void Samples::decide() {
  constexpr std::uint64_t kRateMin = 8, kRateMax = 1 << 24;
  std::set<std::uint64_t> rates;
  const bool are_samples =
      !first_.empty() && std::ranges::all_of(first_, [&](const FlowRecord& record) {
        if (rates.size() <= kRatesMax) rates.insert(record.packets);
        return record.start == record.end && record.packets >= kRateMin &&
               record.packets <= kRateMax;
      });
  is_decided_ = true;
  if (are_samples && rates.size() <= kRatesMax) rate_ = static_cast<std::uint32_t>(*rates.begin());
  for (const FlowRecord& record : std::exchange(first_, {})) pass(record);
}

void Samples::pass(const FlowRecord& record) {
  if (rate_ == 0) return (*sink_)(record);
  const Key key{record.src, record.dst, record.src_port, record.dst_port, record.protocol};
  if (record.end > looked_ + kGap) {
    close_before(record.end - kGap);
    looked_ = record.end;
  }
  auto at = open_.find(key);
  if (at != open_.end() &&
      (record.start > at->second.end + kGap || record.end > at->second.start + kLongest)) {
    (*sink_)(at->second);
    at->second = record;
    return;
  }
  if (at == open_.end()) {
    if (open_.size() >= kOpenMax) close_before(std::numeric_limits<TimeNs>::max());
    open_.emplace(key, record);
    return;
  }
  FlowRecord& transfer = at->second;
  transfer.start = std::min(transfer.start, record.start);
  transfer.end = std::max(transfer.end, record.end);
  transfer.bytes += record.bytes;
  transfer.packets += record.packets;
}

void Samples::close_before(TimeNs end) {
  std::vector<FlowRecord> closed;
  for (auto at = open_.begin(); at != open_.end();) {
    if (at->second.end >= end) {
      ++at;
      continue;
    }
    closed.push_back(at->second);
    at = open_.erase(at);
  }
  std::ranges::sort(closed, {}, &FlowRecord::end);
  for (const FlowRecord& transfer : closed) (*sink_)(transfer);
}

}  // namespace l4::flows::decode
