// The windows of the numbers that one source prints, in order of arrival.
//
// Place in the flow: wire::Batch::figures -> here; aggregator/detect/figures reads it. One thread.
// Bounds: kNumbersMax numbers with `windows_max` windows together; beyond that, the two oldest
// windows of the number with the most windows become one.
#pragma once

#include <cstddef>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/wire/figures.h"

namespace l4::job {

class FigureTable {
 public:
  static constexpr std::size_t kWindowsMax = 48, kNumbersMax = 8;
  /// In a job of many sources, which mostly print alike numbers, a source keeps fewer.
  static constexpr std::size_t kWindowsLeast = 16;

  void add(const wire::FigureWindow& window, std::size_t windows_max = kWindowsMax);
  /// Windows of one number stand in the order of their iterations.
  const std::vector<wire::FigureWindow>& windows() const { return windows_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void join_oldest();

  std::vector<wire::FigureWindow> windows_;
};

}  // namespace l4::job
