// What an agent makes of one file, as text to compare: marker, iterations, stages, timers.
//
// The file goes the whole way: decoder, Drain, rule packs, segmenter, batches.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/segment/rule_pack.h"

namespace l4::segment::test {

struct Reading {
  std::string marker;  ///< text of its template; empty if none was found
  std::vector<std::string> frameworks;
  /// Completed iterations of each run, of the speaker that completed most; counted ones are left
  /// out.
  std::vector<std::vector<std::int64_t>> iterations;
  std::uint64_t counted = 0;             ///< signs of progress that were counted
  std::vector<std::string> stages;       ///< of all speakers, in the order of the lines
  std::map<std::string, double> timers;  ///< name to mean, in ms
  std::uint64_t finished = 0, teardown = 0, aftermath = 0;  ///< templates marked so

  std::string text() const;
};

Reading read_file(const std::filesystem::path& file, const RulePackSet& packs);

/// The packs that ship, loaded once.
const RulePackSet& packs();
/// The same without some.
RulePackSet packs_without(const std::vector<std::string>& names);

}  // namespace l4::segment::test
