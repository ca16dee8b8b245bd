// The content of a batch from an agent to the aggregator: definitions, sources, segments, coverage,
// processes.
//
// Flow: agent/segment fills a Batch, common/wire/codec turns it into Cap'n Proto bytes
// (schemas/batch.capnp) and back, aggregator/receive applies it. Plain values, moved, never shared.
// Bounds: a batch encodes to at most 1 MiB (the sender splits); limits of single lists stand at
// their fields. Local template ids hold for one incarnation of one agent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/figures.h"
#include "common/wire/file_reading.h"
#include "common/wire/nics.h"
#include "common/wire/process_fact.h"
#include "common/wire/segment.h"

namespace l4::wire {

/// One physical file on the agent's host, through renames. `key` is drawn when the agent first sees
/// the file, and stays. A restarted agent finds the file again by the other fields.
struct FileId {
  std::uint64_t key = 0;  ///< 0 offline: files are told apart by path
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t fingerprint = 0;  ///< hash of the first `fingerprint_bytes` bytes
  std::uint32_t fingerprint_bytes = 0;
  bool operator==(const FileId&) const = default;
};

/// Bytes of one file that this batch accounts for (docs/DESIGN.md, "Positions are the sequence").
struct Coverage {
  std::string path;
  ByteRange bytes;
  std::uint64_t lines = 0;
  std::uint64_t bytes_known = 0;  ///< size of the file as far as known
  FileId file = {};
  std::uint64_t bytes_lost = 0;  ///< bytes of the range that were wanted and never read
  bool operator==(const Coverage&) const = default;
};

/// A fact about the input that a user must know: unreadable, binary, cut, lost.
struct Warning {
  std::string kind;
  std::string file;
  std::string reason;
  std::uint64_t bytes = 0;
  bool operator==(const Warning&) const = default;
};

struct Batch {
  std::string agent;  ///< the node's name; key of the connection
  std::string job;    ///< as the agent knows it: an agent has a tree and batches for each job
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::vector<SourceDefinition> sources;
  std::vector<TemplateDefinition> templates;
  std::vector<TimerName> timers;
  std::vector<Segment> segments;
  std::vector<Coverage> coverage;
  std::vector<Warning> warnings;
  std::vector<LocalTemplateId> forgotten;  ///< dropped after the segments; never used again
  std::vector<ProcessFact> processes;      ///< new or changed since the last batch
  std::vector<FigureWindow> figures;       ///< of sources that are defined
  std::vector<FileReading> readings;       ///< new, or changed much since they were last sent
  NicNews nics;                            ///< of the node, while the job runs on it
  std::uint64_t lines_by_half = 0;  ///< lines of a flood that were grouped by half their words
  bool operator==(const Batch&) const = default;
};

/// The batch tells of network cards and of nothing else.
inline bool is_of_nics_alone(const Batch& batch) {
  return !batch.nics.empty() && batch.segments.empty() && batch.coverage.empty() &&
         batch.sources.empty() && batch.templates.empty() && batch.warnings.empty() &&
         batch.processes.empty() && batch.readings.empty() && batch.figures.empty() &&
         batch.forgotten.empty();
}

}  // namespace l4::wire
