// Packet samples of sFlow, put together to transfers.
//
// Place in the flow: nfdump.h reads files of sfcapd, in which each sampled packet is a record
// without a length, of as many packets as the switch passes for one that it samples -> here ->
// records as a sampling exporter makes them. Samples of a connection closer than kGap are one
// transfer, which is cut after kLongest. A file is of samples if its first kProbe records all are
// and name few rates: transfers of other exporters have lengths, or sizes of their own.
// Bounds: kOpenMax connections that are open at a time. Pure state; records come in about the
// order of their time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "aggregator/flows/decode/input.h"
#include "aggregator/flows/record.h"

namespace l4::flows::decode {

class Samples {
 public:
  static constexpr TimeNs kGap = 50 * kMillisecond, kLongest = kSecond;
  static constexpr std::size_t kProbe = 256, kRatesMax = 8, kOpenMax = 65'536;

  explicit Samples(const Sink& sink) : sink_(&sink) {}

  void add(const FlowRecord& record);
  /// No more will come.
  void finish();
  /// One packet in so many was sampled, where that is known by now: 0 if these are no samples.
  std::uint32_t rate() const { return rate_; }

 private:
  using Key = std::tuple<Address, Address, std::uint16_t, std::uint16_t, std::uint8_t>;

  void decide();
  void pass(const FlowRecord& record);
  /// Gives the transfers that ended before `end`.
  void close_before(TimeNs end);

  const Sink* sink_;
  bool is_decided_ = false;
  std::uint32_t rate_ = 0;
  std::vector<FlowRecord> first_;  ///< until it is known what they are
  std::map<Key, FlowRecord> open_;
  TimeNs looked_ = 0;
};

}  // namespace l4::flows::decode
