// What exporters lost, known from their sequence numbers.
//
// Place in the flow: the analyser hands it each record; steps ask it whether one may be missing.
// One owner. Bounds: kExportersMax exporters, kGapsMax gaps of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

class Losses {
 public:
  void add(const FlowRecord& record);
  /// This exporter sees where servers write to storage.
  void note_storage(std::uint32_t exporter);
  /// A record of this exporter that ended in [from, to] may be missing.
  bool is_lossy(std::uint32_t exporter, TimeNs from, TimeNs to) const;
  /// A record of storage that ended in [from, to] may be missing.
  bool is_storage_lossy(TimeNs from, TimeNs to) const;
  std::uint64_t lost() const { return lost_; }
  /// Some record carried a sequence number.
  bool is_known() const { return known_; }

 private:
  static constexpr std::size_t kExportersMax = 4096, kGapsMax = 4096;
  struct Gap {
    TimeNs from = 0, to = 0;  ///< ends of the records before and behind
  };
  struct Exporter {
    std::uint64_t next = 0;
    TimeNs last_end = 0;
    bool seen = false;
    std::deque<Gap> gaps;
  };

  std::vector<Exporter> exporters_;
  std::vector<std::uint32_t> of_storage_;
  std::uint64_t lost_ = 0;
  bool known_ = false;
};

}  // namespace l4::flows
