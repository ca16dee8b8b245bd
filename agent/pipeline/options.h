// Options, input positions and output interface of a JobPipeline.
//
// Plain values and one interface; see agent/pipeline/job_pipeline.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/decode/decoder.h"
#include "common/drain/template_miner.h"
#include "common/wire/batch.h"

namespace l4::pipeline {

class Redaction;

struct Options {
  std::size_t segments_per_batch = 512;
  std::size_t events_per_batch = 16'384;
  decode::Options decode;
  drain::Options drain;
  bool live = false;
  const Redaction* redaction = nullptr;  ///< applied to every record; null: none
  const Redaction* secrets = nullptr;    ///< applied to the texts of templates; null: none
  Millis hold{1000};  ///< live: how long a record waits for lines that may belong to it
};

/// Receives what the pipeline makes.
class Output {
 public:
  virtual ~Output() = default;
  virtual void batch(wire::Batch&& batch) = 0;
  /// Receives a segment, for recall; `where` has the bytes of each event of the segment.
  virtual void segment(const wire::Segment& /*segment*/,
                       std::span<const wire::ByteRange> /*where*/) {}
  virtual void forgotten(const std::vector<LocalTemplateId>& /*ids*/) {}
  /// Receives, for recall, the sources of runs that are too old to be kept.
  virtual void sources_forgotten(const std::vector<SourceId>& /*sources*/) {}
};

/// A position in a physical file of a log: where the text that follows begins.
struct FilePosition {
  std::string path;
  wire::FileId file;
  std::uint64_t offset = 0;
  std::uint64_t known = 0;             ///< size as far as known
  std::optional<std::uint64_t> lines;  ///< lines before `offset`, if known
};

}  // namespace l4::pipeline
