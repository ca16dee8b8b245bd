// The output of `l4 inspect`.
//
// A Survey is one job as it was read; text and JSON are made from it alone. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/node_agent.h"
#include "common/wire/batch.h"

namespace l4::commands {

struct SurveyedFile {
  agent::FileFacts facts;
  wire::SourceKind kind = wire::SourceKind::other;
};

struct Survey {
  std::string job;
  std::vector<SurveyedFile> files;
  std::vector<std::string> frameworks;  ///< names of the rule packs that knew a line
  std::vector<wire::Warning> warnings;
};

/// A table with columns sized to what is in them, no line wider than `width` cells, and a summary.
std::string to_text(const Survey& survey, std::size_t width);

std::string to_json(const Survey& survey);

/// At most `width` cells, with an ellipsis in the middle if something was cut; the end is kept
/// longer than the front.
std::string cut_middle(const std::string& text, std::size_t width);

}  // namespace l4::commands
