#include "aggregator/flows/streams.h"

#include <algorithm>

#include "common/base/hash.h"

namespace l4::flows {
namespace {

std::uint64_t hash_of(const Address& src, const Address& dst, std::uint64_t ports) {
  return hashing::fold(src.hash() ^ ports, dst.hash() ^ hashing::kC);
}

/// Of a record or a stream.
template <class One>
std::uint64_t hash_of(const One& one) {
  return hash_of(
      one.src, one.dst,
      std::uint64_t{one.src_port} << 24 | std::uint64_t{one.dst_port} << 8 | one.protocol);
}

bool is_of(const Stream& stream, const FlowRecord& record) {
  return stream.src == record.src && stream.dst == record.dst &&
         stream.src_port == record.src_port && stream.dst_port == record.dst_port &&
         stream.protocol == record.protocol;
}

constexpr std::uint8_t kUdp = 17;

}  // namespace

StreamTable::StreamTable(const Topology& topology, std::size_t rows_max)
    : topology_(&topology), rows_(rows_max) {}

std::size_t StreamTable::bytes() const {
  // A hash table is filled to three eighths at least when it has grown; neither of them shrinks.
  constexpr std::size_t kPlace = sizeof(FlatTable<std::uint32_t>::Entry) * 8 / 3;
  return streams_.capacity() * sizeof(Stream) + by_tuple_.capacity() * sizeof(std::uint32_t) +
         cards_.capacity() * sizeof(Card) + cards_.size() * kPlace + free_.size() * sizeof(Free);
}

bool StreamTable::is_training(const FlowRecord& record) const {
  if (topology_->empty()) return record.protocol == kUdp && record.dst_port == kRocePort;
  return topology_->card(record.src) != nullptr && topology_->card(record.dst) != nullptr;
}

std::optional<Row> StreamTable::add(const FlowRecord& record) {
  const std::uint32_t index = find_or_make(record);
  if (index == kNone) return std::nullopt;
  Stream& stream = streams_[index];
  stream.last_end = std::max(stream.last_end, record.end);
  if (stream.src_card != kNone) {
    TimeNs& sign = cards_[stream.src_card].last_sign;
    sign = std::max(sign, record.end);
  }
  if (record.bytes < kFloorBytes) return std::nullopt;
  if (stream.dst_card == kNone || stream.src_card == kNone) {
    stream.src_card = find_card(record.src, true);
    stream.dst_card = find_card(record.dst, true);
    if (stream.src_card == kNone || stream.dst_card == kNone) {
      ++unplaced_;
      return std::nullopt;
    }
  }
  if (stream.rows < kNone) ++stream.rows;
  stream.bytes += record.bytes;
  stream.packets += record.packets;
  const Row row{record.start, record.end, record.bytes, index,
                static_cast<std::uint32_t>(std::min<std::uint64_t>(record.packets, kNone))};
  rows_.push(row);
  return row;
}

/// Where the record's stream is in by_tuple_, or belongs.
std::uint32_t* StreamTable::slot_of(const FlowRecord& record) {
  const std::size_t mask = by_tuple_.size() - 1;
  std::size_t at = hash_of(record) & mask;
  while (by_tuple_[at] != 0 && !is_of(streams_[by_tuple_[at] - 1], record)) at = (at + 1) & mask;
  return &by_tuple_[at];
}

void StreamTable::index_anew(std::size_t slots) {
  by_tuple_.assign(slots, 0);
  const std::size_t mask = slots - 1;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i].is_used) continue;
    std::size_t at = hash_of(streams_[i]) & mask;
    while (by_tuple_[at] != 0) at = (at + 1) & mask;
    by_tuple_[at] = i + 1;
  }
}

std::uint32_t StreamTable::find_or_make(const FlowRecord& record) {
  if (!by_tuple_.empty())
    if (const std::uint32_t found = *slot_of(record); found != 0) return found - 1;
  return is_training(record) ? make(record) : kNone;
}

std::uint32_t StreamTable::make(const FlowRecord& record) {
  constexpr std::size_t kSlotsMin = 64;
  if (used_ >= kStreamsMax) make_room();
  const auto place = used_ < kStreamsMax ? take_free() : std::nullopt;
  if (used_ >= kStreamsMax || (!place && streams_.size() >= kStreamsMax)) {
    ++unplaced_;
    return kNone;
  }
  const std::uint32_t index = place.value_or(static_cast<std::uint32_t>(streams_.size()));
  if (!place) {
    // By a quarter and not twice as many: there may be very many.
    if (streams_.size() == streams_.capacity())
      streams_.reserve(std::min(kStreamsMax, streams_.size() + streams_.size() / 4 + kSlotsMin));
    streams_.emplace_back();
  }
  if ((used_ + 1) * 4 > by_tuple_.size() * 3) index_anew(std::max(kSlotsMin, by_tuple_.size() * 2));
  *slot_of(record) = index + 1;
  ++used_;
  Stream& stream = streams_[index];
  stream.src = record.src;
  stream.dst = record.dst;
  stream.src_port = record.src_port;
  stream.dst_port = record.dst_port;
  stream.protocol = record.protocol;
  stream.is_used = true;
  stream.exporter = record.exporter;
  stream.src_card = find_card(record.src, false);
  return index;
}

std::uint32_t StreamTable::find_card(const Address& address, bool make) {
  if (const std::uint32_t* found = by_address_.find(address.hash())) return *found - 1;
  if (!make || cards_.size() >= kCardsMax) return kNone;
  const Topology::Card* known = topology_->card(address);
  cards_.push_back({address, known != nullptr ? known->server : kNone, 0});
  by_address_[address.hash()] = static_cast<std::uint32_t>(cards_.size());
  return static_cast<std::uint32_t>(cards_.size() - 1);
}

/// Drops streams that carried little and belong to no job. Not again before as many records found
/// no room as a sweep costs look-ups.
void StreamTable::make_room() {
  constexpr std::uint64_t kLittle = 1 << 20;
  if (refused_ > 0 && ++refused_ < kStreamsMax) return;
  refused_ = 1;
  drop_if([](const Stream& stream) { return stream.job == kNone && stream.bytes < kLittle; });
  if (used_ < kStreamsMax) refused_ = 0;
}

void StreamTable::drop_silent(TimeNs before) {
  drop_if([&](const Stream& stream) { return stream.job == kNone && stream.last_end < before; });
  if (used_ < kStreamsMax) refused_ = 0;
}

template <class Drop>
void StreamTable::drop_if(Drop drop) {
  const std::size_t before = used_;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    if (!stream.is_used || !drop(stream)) continue;
    const Free freed{i, stream.rows == 0 ? 0 : rows_.pushed()};
    if (stream.rows == 0)
      free_.push_front(freed);
    else
      free_.push_back(freed);
    stream = Stream();
    --used_;
  }
  if (used_ != before) index_anew(by_tuple_.size());
}

/// A place that no kept row names any more.
std::optional<std::uint32_t> StreamTable::take_free() {
  if (free_.empty()) return std::nullopt;
  const Free first = free_.front();
  if (first.from != 0 && rows_.pushed() - first.from < rows_.size()) return std::nullopt;
  free_.pop_front();
  return first.place;
}

}  // namespace l4::flows
