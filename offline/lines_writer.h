// Recall after the verdict: example lines for the report and the rows of `--lines`.
//
// Place in the flow: Diagnosis + the job's agents -> raw lines. Asks each agent only for templates
// of reported events on the streams of their scope; learning is off.
#pragma once

#include <filesystem>

#include "aggregator/diagnose/diagnose.h"
#include "offline/offline.h"

namespace l4::offline {

/// Fills `examples` of every reported event with up to three lines of its first streams.
void add_examples(diagnose::Diagnosis& diagnosis, const Job& job);

/// Rows `file<TAB>line<TAB>template_id<TAB>score`, sorted by file and line.
Result<void> write_lines(const diagnose::Diagnosis& diagnosis, const Job& job,
                         const std::filesystem::path& out);

}  // namespace l4::offline
