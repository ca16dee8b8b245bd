// Fuses the findings of all detectors on one job attempt into one report.
//
// Place in the flow: JobState (+ healthy runs + fault library) -> Report; tools and serve render
// it. Pure: `as_of` is given. Deterministic: equal states give equal reports.
#pragma once

#include <optional>
#include <vector>

#include "aggregator/detect/evidence/parts.h"
#include "aggregator/detect/hang/silence.h"
#include "aggregator/diagnose/findings/live.h"
#include "aggregator/diagnose/report.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::faults {
class Library;
}  // namespace l4::faults
namespace l4::detect::network {
struct Network;
}  // namespace l4::detect::network
namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::diagnose {

struct Pool;
namespace clues {
struct Scale;
}  // namespace clues
using detect::parse_parts;
using detect::Part;
using detect::Parts;

enum class Scoring : std::uint8_t { l4, paper };

struct Options {
  std::optional<TimeMs> as_of;  ///< time of the question; empty: newest line or trusted file time
  bool mtimes_equal = false;    ///< all files have the same mtime: perhaps a copy
  Scoring scoring = Scoring::l4;
  Parts without = {};  ///< parts that are switched off
  const faults::Library* library = nullptr;
  const Pool* pool = nullptr;  ///< further healthy runs, in the job's template ids
  detect::hang::Options hang = {};
  const clues::Scale* scale = nullptr;  ///< what clues are worth; null: as shipped
  std::uint64_t seed = 1;
  /// Set for a running job: belongs to its last attempt, and `as_of` is now.
  std::optional<Live> live = {};
  /// What the network shows of the last attempt; null: nothing. Outlives the call.
  const detect::network::Network* network = nullptr;
};

/// The scope in which the lines of a report's event are searched (`--lines`, docs/DESIGN.md,
/// "Command line").
struct EventScope {
  TemplateId id;
  double score = 0;
  std::optional<TimeMs> from;
  struct Stream {
    std::string agent;
    SourceId source;
    LocalTemplateId local;
  };
  std::vector<Stream> streams;
};

struct Diagnosis {
  Report report;
  std::vector<EventScope> scopes;  ///< one per report.events, same order
};

Diagnosis diagnose(const job::JobState& state,
                   const std::vector<const job::JobState*>& healthy_runs, const Options& options);

}  // namespace l4::diagnose
