// What `l4 faults` says, as JSON. Keys keep their order and meaning; new ones may be added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/faults/library.h"
#include "aggregator/faults/self_test.h"

namespace l4::cli {

/// A fault on a line.
struct FaultMatch {
  std::string file;
  std::uint64_t line = 0;
  std::string text;
  const faults::Fault* fault = nullptr;
};

std::string to_json(const std::vector<const faults::Fault*>& faults);
/// One object without a line end: matches are written one by one.
std::string to_json(const FaultMatch& match);
std::string to_json(const std::vector<std::pair<const faults::Fault*, std::size_t>>& counts);
std::string to_json(const std::vector<faults::Finding>& findings, std::size_t entries);

}  // namespace l4::cli
