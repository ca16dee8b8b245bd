// Reads made lines as one source without any rule pack, by the segmenter, as in production, with
// templates that have no role. For tests of the iteration learner.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agent/segment/iteration_learner.h"
#include "agent/segment/segmenter.h"
#include "common/drain/template_miner.h"

namespace l4::segment::test {

/// The line of iteration i.
using LineOf = std::function<std::string(int)>;

struct Learned {
  std::vector<std::int64_t> completed;
  std::string marker;  ///< text of the marker's template; empty if none was found
  std::int64_t printed_last = 0;
  std::size_t numberings = 0;
};

inline constexpr Millis kUntimed{-1};

/// Reads lines one second apart, or without times, as one source without any rule pack.
inline Learned learn(const std::vector<std::string>& lines, Millis pace = Millis{1000}) {
  Learned learned;
  drain::TemplateMiner miner;
  Segmenter segmenter(SourceId{0}, [&](wire::Segment&& segment, std::span<const wire::ByteRange>) {
    if (segment.boundary != wire::Boundary::completed || !segment.iteration) return;
    learned.completed.push_back(segment.iteration->value());
    learned.printed_last = segment.iteration->value() - segment.before;
    learned.numberings = segment.numbering + 1U;
  });
  TimeMs time = from_civil(2024, 3, 5, 10, 0, 0, 0);
  std::uint64_t line = 0;
  std::uint64_t at = 0;
  for (const std::string& text : lines) {
    ++line;
    decode::Record record;
    record.text = text;
    if (pace >= Millis{0}) record.time = time += pace;
    record.lines = {&line, 1};
    record.bytes = {at, at + text.size() + 1};
    at = record.bytes.to;
    TemplateTraits traits;
    traits.promising = IterationLearner::is_promising(text);
    segmenter.add(record, miner.learn(text).id, traits);
  }
  segmenter.finish();
  if (segmenter.marker()) learned.marker = miner.at(*segmenter.marker()).text;
  return learned;
}

inline std::vector<std::string> repeat(const LineOf& line_of, int times) {
  std::vector<std::string> lines;
  for (int i = 1; i <= times; ++i) lines.push_back(line_of(i));
  return lines;
}

/// True if each completed number occurs once, one step after the previous one.
inline bool is_steady(const std::vector<std::int64_t>& numbers, std::int64_t step) {
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step) return false;
  return true;
}

}  // namespace l4::segment::test
