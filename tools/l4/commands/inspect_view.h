// The output of `l4 inspect`.
//
// A Survey is one job as it was read; text and JSON are made from it alone. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/node_agent.h"
#include "aggregator/diagnose/report.h"
#include "common/wire/batch.h"

namespace l4::commands {

struct SurveyedFile {
  agent::FileFacts facts;
  wire::SourceKind kind = wire::SourceKind::other;
  diagnose::SourceRead read;  ///< as the report has it
};

struct Survey {
  std::string job;
  std::vector<SurveyedFile> files;
  diagnose::Understood all;             ///< over all files
  std::vector<std::string> frameworks;  ///< names of the rule packs that knew a line
  std::vector<wire::Warning> warnings;
};

/// A table with columns sized to what is in them, no line wider than `width` cells, and a summary.
std::string to_text(const Survey& survey, std::size_t width);

std::string to_json(const Survey& survey);

}  // namespace l4::commands
