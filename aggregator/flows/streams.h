// Connections of the training network: what each carried, and the latest records of all.
//
// Place in the flow: the analyser hands it each record; learning reads the streams and the recent
// rows. A stream is a 5-tuple, a connection's queue pair. Only records of at least kFloorBytes
// between two cards become rows; smaller ones (norms, barriers, probes) are signs of life.
// Cost: one look-up a record. Bounds: kStreamsMax streams, `rows_max` rows of 32 bytes; streams
// that carried little make room for new ones, and what finds no room is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "aggregator/flows/record.h"
#include "aggregator/flows/row_store.h"
#include "aggregator/flows/topology.h"
#include "common/base/flat_table.h"

namespace l4::flows {

inline constexpr std::uint64_t kFloorBytes = 64 * 1024;
inline constexpr std::size_t kStreamsMax = 200'000, kCardsMax = 65'536;

/// A network card that carries training traffic.
struct Card {
  Address address;
  std::uint32_t server = 0;  ///< index of the topology; kNone: not known
  TimeNs last_sign = 0;      ///< end of its last record of any size
};

struct Stream {
  Address src, dst;
  std::uint32_t src_card = kNone, dst_card = kNone;
  std::uint16_t src_port = 0, dst_port = 0;
  std::uint8_t protocol = 0;
  bool is_used = false;  ///< false: its place is free
  std::uint32_t rows = 0;
  std::uint64_t bytes = 0, packets = 0;
  TimeNs last_end = 0;
  std::uint32_t exporter = kNone;
  std::uint32_t job = kNone;   ///< index of the analyser's jobs
  std::uint32_t unit = kNone;  ///< what the job calls it
};

class StreamTable {
 public:
  StreamTable(const Topology& topology, std::size_t rows_max);

  /// The row of the record, if it counts.
  std::optional<Row> add(const FlowRecord& record);

  const std::vector<Stream>& streams() const { return streams_; }
  Stream& stream(std::uint32_t index) { return streams_[index]; }
  const std::vector<Card>& cards() const { return cards_; }
  const Topology& topology() const { return *topology_; }
  /// The latest rows, in the order in which they came.
  const RowStore& rows() const { return rows_; }
  /// Drops streams without a job that were last heard before `before`.
  void drop_silent(TimeNs before);
  /// Memory that streams and cards take at most, without rows.
  std::size_t bytes() const;
  /// Records for which there was no room.
  std::uint64_t unplaced() const { return unplaced_; }

 private:
  std::uint32_t find_or_make(const FlowRecord& record);
  std::uint32_t make(const FlowRecord& record);
  std::uint32_t* slot_of(const FlowRecord& record);
  void index_anew(std::size_t slots);
  std::uint32_t find_card(const Address& address, bool make);
  bool is_training(const FlowRecord& record) const;
  void make_room();
  template <class Drop>
  void drop_if(Drop drop);
  std::optional<std::uint32_t> take_free();

  const Topology* topology_;
  std::vector<Stream> streams_;
  struct Free {
    std::uint32_t place = 0;
    std::uint64_t from = 0;  ///< of rows that were ever pushed: kept rows may still name the place
  };
  std::deque<Free> free_;  ///< places of streams that were dropped
  /// Open addressing: index + 1 of the stream, 0 where there is none. Streams have the keys, which
  /// are looked at in any case.
  std::vector<std::uint32_t> by_tuple_;
  std::size_t used_ = 0;                 ///< streams in it
  FlatTable<std::uint32_t> by_address_;  ///< index + 1 of the card
  std::vector<Card> cards_;
  RowStore rows_;
  std::uint64_t unplaced_ = 0, refused_ = 0;
};

}  // namespace l4::flows
