#include "aggregator/diagnose/opening.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "aggregator/faults/fault.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

namespace l4::diagnose {
namespace {

struct FileLines {
  std::uint64_t last = 0;
  std::uint64_t first_failure = 0;  ///< 0: none
};

using LinesByFile = std::map<std::string_view, FileLines>;  ///< by path

/// Logs that were collected together are whole.
bool is_collection(const LinesByFile& files) {
  return files.size() >= numbers::diagnose().collection_files;
}

LinesByFile lines_by_file(const Findings& findings) {
  LinesByFile files;
  for (const job::StreamView& stream : findings.view.streams) {
    FileLines& file = files[stream.state->source.path];
    file.last = std::max(file.last, stream.state->last_line);
  }
  for (const detect::FailureEvent& failure : findings.failures.events) {
    if (failure.severity < detect::Severity::failure) continue;
    const job::EventView& event = findings.view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences) {
      const job::Occurrence& at = event.at[i];
      FileLines& file = files[findings.view.streams[at.stream].state->source.path];
      const std::uint64_t line = at.first_line;
      if (file.first_failure == 0 || line < file.first_failure) file.first_failure = line;
    }
  }
  return files;
}

/// Some file begins with enough ordinary lines to be a start.
bool begins_before_failure(const LinesByFile& files) {
  const std::uint64_t opening = is_collection(files) ? 1 : numbers::diagnose().opening_lines;
  return std::ranges::any_of(files, [&](const auto& entry) {
    const FileLines& file = entry.second;
    return (file.first_failure == 0 ? file.last : file.first_failure) > opening;
  });
}

/// Faults of a start: wrong settings, missing modules and refused jobs show at once; machines and
/// kernels fail later.
bool fails_at_start(const faults::Fault& fault) {
  if (fault.category == faults::Category::user) return fault.subcategory != "program";
  return fault.category == faults::Category::platform && fault.subcategory == "config";
}

/// The gravest known cause among the failures.
const faults::Fault* leading_fault(const Findings& findings) {
  const faults::Fault* leading = nullptr;
  for (const detect::FailureEvent& failure : findings.failures.events)
    for (const faults::Fault* fault : findings.hints.faults[failure.event])
      if (!fault->consequence && (leading == nullptr || fault->severity > leading->severity))
        leading = fault;
  return leading;
}

}  // namespace

Opening opening_of(const Findings& findings) {
  const auto& spans = findings.stages.spans;
  const auto is_start = [](const detect::stage::Span& span) { return is_startup(span.stage); };
  const LinesByFile files = lines_by_file(findings);
  if (std::ranges::any_of(spans, is_start) || begins_before_failure(files)) return Opening::seen;
  // The logs of several nodes are whole, and none has a line from before the failure.
  if (is_collection(files) && findings.view.nodes.size() > 1) return Opening::launch;
  if (!spans.empty()) return Opening::running;
  const faults::Fault* fault = leading_fault(findings);
  return fault == nullptr || fails_at_start(*fault) ? Opening::launch : Opening::running;
}

}  // namespace l4::diagnose
