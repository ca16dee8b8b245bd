// The state of one log in the pipeline of its job: its speakers, its decoder, the segments that
// wait to be shipped.
//
// Plain state, filled by JobPipeline; NodeAgent reads it for recall and for facts about a file. One
// thread. Bounded by the speakers of a file and by the records between two flushes.
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
#include "agent/pipeline/reading_state.h"
#include "agent/pipeline/speaker_table.h"
#include "agent/segment/iteration_learner.h"
#include "agent/segment/run_watch.h"
#include "common/wire/instant.h"

namespace l4::pipeline {

using LogNumber = Named<struct LogNumberTag, std::uint32_t>;

struct LogState {
  explicit LogState(discover::LogFile given) : file(std::move(given)), speakers(file) {}
  LogState(const LogState&) = delete;
  LogState& operator=(const LogState&) = delete;

  LogNumber number;
  discover::LogFile file;
  SpeakerTable speakers;
  std::optional<Attribution> attribution;  ///< the current record's
  FileRuns runs;
  segment::RunWatch watch;
  std::vector<segment::IterationLearner> learners;  ///< by speaker, from the previous run
  decode::Options decode;
  std::unique_ptr<decode::Decoder> decoder;  ///< while the log is read
  /// Segmenters of the run before, while records of it may wait in the decoder.
  std::map<SourceId, std::unique_ptr<segment::Segmenter>> past;
  std::map<SourceId, wire::SourceDefinition> defined;  ///< sources of the current run, as sent

  /// Set once the log was read to its end.
  decode::Stats stats;
  std::string_view time_format;
  std::optional<LocalTemplateId> marker;  ///< the template that marked most iterations
  std::uint64_t marks = 0;
  std::optional<wire::Marker> marker_taken;  ///< why it is the marker
  std::string marker_text;
  ReadingState reading;

  /// Live: the state of records and segments that are not shipped yet.
  Extents extents;
  std::vector<wire::Segment> staged;
  std::uint64_t records_to = 0;      ///< greatest end of all records that were given
  std::optional<wire::Instant> fed;  ///< when its last bytes came
  bool dirty = false;                ///< the next flush must ship it
  bool ended = false;
  bool described = false;        ///< its facts have changed since its sources were defined
  bool fresh = true;             ///< nothing was read since it was opened, or since restart()
  std::uint64_t waits_from = 0;  ///< first byte of the first record that waits for more lines
  std::optional<Millis> waits_since, mixed_since, line_since;
  std::uint64_t line_from = 0;
  std::map<std::uint64_t, decode::LinePosition>
      begins;  ///< begins of parts in the text, by file key
};

}  // namespace l4::pipeline
