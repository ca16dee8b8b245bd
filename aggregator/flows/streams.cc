#include "aggregator/flows/streams.h"

#include <algorithm>
#include <cmath>

#include "common/base/hash.h"

namespace l4::flows {
namespace {

std::uint64_t key_of(const FlowRecord& record) {
  const std::uint64_t ports =
      std::uint64_t{record.src_port} << 24 | std::uint64_t{record.dst_port} << 8 | record.protocol;
  return hashing::fold(record.src.hash() ^ ports, record.dst.hash() ^ hashing::kC);
}

constexpr std::uint8_t kUdp = 17;

}  // namespace

double Stream::variation() const {
  if (rows < 2 || size_mean <= 0) return 0;
  return std::sqrt(size_spread / static_cast<double>(rows - 1)) / size_mean;
}

StreamTable::StreamTable(const Topology& topology, std::size_t rows_max)
    : topology_(&topology), rows_(rows_max) {}

std::size_t StreamTable::bytes() const {
  // A hash table is filled to three eighths at least when it has grown; neither of them shrinks.
  constexpr std::size_t kPlace = sizeof(FlatTable<std::uint32_t>::Entry) * 8 / 3;
  return streams_.capacity() * sizeof(Stream) + cards_.capacity() * sizeof(Card) +
         free_.size() * sizeof(Free) + (streams_.size() + cards_.size()) * kPlace;
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
  ++stream.rows;
  stream.bytes += record.bytes;
  stream.packets += record.packets;
  const double size = static_cast<double>(record.bytes), before = size - stream.size_mean;
  stream.size_mean += before / static_cast<double>(stream.rows);
  stream.size_spread += before * (size - stream.size_mean);
  const Row row{record.start, record.end, record.bytes, index,
                static_cast<std::uint32_t>(std::min<std::uint64_t>(record.packets, kNone))};
  rows_.push(row);
  return row;
}

std::uint32_t StreamTable::find_or_make(const FlowRecord& record) {
  const std::uint64_t key = key_of(record);
  if (const std::uint32_t* found = by_tuple_.find(key)) {
    const Stream& stream = streams_[*found - 1];
    // Two connections whose hashes agree cannot be told apart: the later one is left out.
    if (stream.src == record.src && stream.dst == record.dst) return *found - 1;
    ++unplaced_;
    return kNone;
  }
  if (!is_training(record)) return kNone;
  if (by_tuple_.size() >= kStreamsMax) make_room();
  if (by_tuple_.size() >= kStreamsMax) {
    ++unplaced_;
    return kNone;
  }
  const auto place = take_free();
  if (!place && streams_.size() >= kStreamsMax) {
    ++unplaced_;
    return kNone;
  }
  const std::uint32_t index = place.value_or(static_cast<std::uint32_t>(streams_.size()));
  if (!place) streams_.emplace_back();
  Stream& stream = streams_[index];
  stream.src = record.src;
  stream.dst = record.dst;
  stream.src_port = record.src_port;
  stream.dst_port = record.dst_port;
  stream.exporter = record.exporter;
  stream.src_card = find_card(record.src, false);
  by_tuple_[key] = index + 1;
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
  if (by_tuple_.size() < kStreamsMax) refused_ = 0;
}

void StreamTable::drop_silent(TimeNs before) {
  drop_if([&](const Stream& stream) { return stream.job == kNone && stream.last_end < before; });
  if (by_tuple_.size() < kStreamsMax) refused_ = 0;
}

template <class Drop>
void StreamTable::drop_if(Drop drop) {
  by_tuple_.keep_if([&](const std::uint32_t& place) {
    Stream& stream = streams_[place - 1];
    if (!drop(stream)) return true;
    const Free freed{place - 1, stream.rows == 0 ? 0 : rows_.pushed()};
    if (stream.rows == 0)
      free_.push_front(freed);
    else
      free_.push_back(freed);
    stream = Stream();
    return false;
  });
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
