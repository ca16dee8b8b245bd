// Reads one file like an agent, and gives marker, iterations, stages and timers for comparison.
//
// The file passes decoder, Drain, rule packs, segmenter and batches.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/segment/rule_pack.h"

namespace l4::segment::test {

struct Reading {
  std::string marker;  ///< text of the marker's template; empty if none was found
  std::vector<std::string> frameworks;
  /// Completed iterations of each run, from the speaker that completed most; without counted ones.
  std::vector<std::vector<std::int64_t>> iterations;
  std::uint64_t counted = 0;             ///< signs of progress that were counted
  std::vector<std::string> stages;       ///< stages of all speakers, in the order of the lines
  std::map<std::string, double> timers;  ///< name to mean, in ms
  std::uint64_t finished = 0, teardown = 0, aftermath = 0;  ///< numbers of templates with that mark

  std::string text() const;
};

Reading read_file(const std::filesystem::path& file, const RulePackSet& packs);

/// The shipped packs, loaded once.
const RulePackSet& packs();
/// The shipped packs without some.
RulePackSet packs_without(const std::vector<std::string>& names);

}  // namespace l4::segment::test
