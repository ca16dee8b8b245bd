// What all decoders of flow records share: where records go, and what could not be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/flows/record.h"
#include "common/base/error.h"

namespace l4::flows::decode {

using Sink = std::function<void(const FlowRecord&)>;

/// Why no analysis can use the record; empty if it can. Times are bounded so that no difference of
/// two overflows.
inline std::string_view why_unusable(const FlowRecord& record) {
  constexpr TimeNs kLatest = TimeNs{4'102'444'800} * kSecond;  // the year 2100
  if (record.start < 0 || record.start > kLatest || record.end > kLatest)
    return "a time before 1970 or after 2100";
  if (record.end < record.start) return "the end lies before the start";
  return {};
}

/// Counts of one input, and the first complaints about it.
struct Counts {
  static constexpr std::size_t kToldMax = 8;

  std::uint64_t records = 0;  ///< that were read
  std::uint64_t bad = 0;      ///< rows, sets or datagrams that were skipped
  std::uint64_t unknown = 0;  ///< data sets whose template is not known
  std::vector<Error> told;

  void add(const Counts& other) {
    records += other.records;
    bad += other.bad;
    unknown += other.unknown;
    for (const Error& one : other.told)
      if (told.size() < kToldMax) told.push_back(one);
  }
  void complain(std::string where, std::string reason) {
    ++bad;
    if (told.size() < kToldMax) told.push_back({std::move(where), std::move(reason)});
  }
};

}  // namespace l4::flows::decode
