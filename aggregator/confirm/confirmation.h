// Makes a fault of the library from an engineer's confirmation of an incident, or refuses it.
// Flow: api -> FaultBook -> propose(): the incident's report gives the line that showed the fault,
// or how a process was ended (diagnose/exit_evidence.h); faults/distil makes the pattern of it.
// Then FaultBook asks the shards for lines of healthy jobs, and judge() decides. A pattern that a
// healthy line shows is refused, with the line. Pure.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"
#include "aggregator/scoring/normal_lines.h"

namespace l4::confirm {

/// The request; its texts are checked already. An empty text was not given.
struct ConfirmRequest {
  std::string incident, cause, fix;
  std::string category;  ///< CATEGORY/SUBCATEGORY
  std::string title, id, action;
  std::string template_id;            ///< template of the event that shows the fault
  std::string example;                ///< a whole line
  std::vector<std::string> patterns;  ///< instead of the distilled pattern
  bool dry_run = false;               ///< report the result and store nothing
  std::string who;
};

struct Refused {
  unsigned status = 422;  ///< HTTP status
  std::string code = "refused";
  std::string message;
  std::vector<scoring::SeenLine> lines;  ///< lines that speak against the fault
};

inline std::unexpected<Refused> refuse(unsigned status, std::string code, std::string message) {
  return std::unexpected(Refused{status, std::move(code), std::move(message), {}});
}

struct PastIncident {
  std::string incident, job, state, text;
};

/// The result of a confirmation, or of a dry run.
struct Confirmed {
  faults::Fault fault;
  bool stored = false;
  bool known = false;         ///< the same fault was confirmed before; nothing was changed
  std::string category_from;  ///< given, known_fault, likeness, assumed
  std::vector<diagnose::IndicatingEvent> evidence;
  std::vector<PastIncident> also_matches;
  /// Ids of known faults whose lines the pattern matches in part.
  std::vector<std::string> overlaps;
  std::uint64_t incidents = 0;  ///< past incidents that were compared
  scoring::NormalLines normal;
};

struct Bounds {
  static constexpr std::size_t kSentence = 2'000, kTitle = 90, kId = 64, kPattern = 1'000,
                               kPatterns = 8, kExample = 4'096, kName = 512;
};

/// The fault as it would be stored, still without `rejects`; `library` is the one in use.
std::expected<Confirmed, Refused> propose(const ConfirmRequest& request,
                                          const diagnose::Report& report,
                                          const faults::Library& library);

/// The proposed fault alone.
faults::Library alone(const Confirmed& proposed);

/// Compares the fault with lines of healthy jobs: adds near misses to its `rejects`, or refuses it.
std::expected<Confirmed, Refused> judge(Confirmed proposed, scoring::NormalLines normal,
                                        const faults::Library& library);

}  // namespace l4::confirm
