// One log as the pipeline of its job knows it: who speaks in it, its decoder, what waits to be
// shipped.
//
// Plain state, filled by JobPipeline; whoever recalls lines or says facts of a file reads it. One
// thread. Bounded by the speakers of a file and by what is decoded between two flushes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "agent/discover/discover.h"
#include "agent/pipeline/extents.h"
#include "agent/pipeline/file_runs.h"
#include "agent/pipeline/speaker_table.h"
#include "agent/segment/iteration_learner.h"
#include "agent/segment/run_watch.h"

namespace l4::pipeline {

using LogNumber = Named<struct LogNumberTag, std::uint32_t>;

struct Log {
  explicit Log(discover::LogFile given) : file(std::move(given)), speakers(file) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  LogNumber number;
  discover::LogFile file;
  SpeakerTable speakers;
  std::optional<Whose> whose;  ///< of the record that is being read
  FileRuns runs;
  segment::RunWatch watch;
  std::vector<segment::IterationLearner> learners;  ///< by speaker, from the run before
  decode::Options decode;
  std::unique_ptr<decode::Decoder> decoder;            ///< while it is read
  std::map<SourceId, wire::SourceDefinition> defined;  ///< sources of the current run, as told

  /// Of a log that was read to its end.
  decode::Stats stats;
  std::string_view time_format;
  std::optional<LocalTemplateId> marker;  ///< of iterations: the one that marked most
  std::uint64_t marks = 0;
  std::string marker_text;

  /// Live: what is not shipped yet.
  Extents extents;
  std::vector<wire::Segment> staged;
  std::uint64_t records_to = 0;  ///< end of the furthest record that was given
  bool dirty = false;            ///< the next flush must look at it
  bool ended = false;
  bool described = false;        ///< its sources may have to be defined anew
  bool fresh = true;             ///< nothing was read since it was opened, or since restart()
  std::uint64_t waits_from = 0;  ///< first record that waits for more
  std::optional<Millis> waits_since, mixed_since, line_since;
  std::uint64_t line_from = 0;
  std::map<std::uint64_t, decode::TextPosition>
      begins;  ///< of parts in the joined text, by file key
};

}  // namespace l4::pipeline
