#include "aggregator/flows/losses.h"

#include <algorithm>

namespace l4::flows {

void Losses::add(const FlowRecord& record) {
  // Numbers of 32 bits wrap, and exporters restart: what jumps far is no loss.
  constexpr std::uint64_t kLateMax = 1 << 16, kLostMax = 1 << 24;
  if (!record.has_sequence || record.exporter >= kExportersMax) return;
  known_ = true;
  if (record.exporter >= exporters_.size()) exporters_.resize(record.exporter + 1);
  Exporter& exporter = exporters_[record.exporter];
  if (exporter.seen &&
      (record.sequence + kLateMax < exporter.next || record.sequence > exporter.next + kLostMax))
    exporter.seen = false;
  if (exporter.seen && record.sequence > exporter.next) {
    lost_ += record.sequence - exporter.next;
    exporter.gaps.push_back(
        {std::min(exporter.last_end, record.end), std::max(exporter.last_end, record.end)});
    if (exporter.gaps.size() > kGapsMax) exporter.gaps.pop_front();
  }
  if (exporter.seen && record.sequence < exporter.next) return;  // late: it is not lost after all
  exporter.seen = true;
  exporter.next = record.sequence + 1;
  exporter.last_end = record.end;
}

void Losses::note_storage(std::uint32_t exporter) {
  if (exporter < kExportersMax && std::ranges::find(of_storage_, exporter) == of_storage_.end())
    of_storage_.push_back(exporter);
}

bool Losses::is_storage_lossy(TimeNs from, TimeNs to) const {
  return std::ranges::any_of(of_storage_,
                             [&](std::uint32_t exporter) { return is_lossy(exporter, from, to); });
}

bool Losses::is_lossy(std::uint32_t exporter, TimeNs from, TimeNs to) const {
  if (exporter >= exporters_.size()) return false;
  const auto& gaps = exporters_[exporter].gaps;
  const auto first =
      std::ranges::partition_point(gaps, [&](const Gap& gap) { return gap.to < from; });
  return first != gaps.end() && first->from <= to;
}

}  // namespace l4::flows
