#include "agent/segment/stack_stages.h"

#include <algorithm>

namespace l4::segment {

void StackStages::add(std::string_view frame, Stage stage) {
  const auto colon = frame.rfind(':');
  const bool any_file = colon == std::string_view::npos;
  by_function_[std::string(any_file ? frame : frame.substr(colon + 1))].push_back(
      {any_file ? std::string() : std::string(frame.substr(0, colon)), stage});
}

Stage StackStages::stage_of_frame(std::string_view file, std::string_view function) const {
  const auto found = by_function_.find(function);
  if (found == by_function_.end()) return Stage::unknown;
  for (const Frame& frame : found->second)
    if (file.find(frame.file) != std::string_view::npos) return frame.stage;
  return Stage::unknown;
}

Stage StackStages::stage_of(std::string_view stack) const {
  Stage stage = Stage::unknown;
  while (!stack.empty()) {
    const std::string_view line = stack.substr(0, stack.find('\n'));
    stack.remove_prefix(std::min(line.size() + 1, stack.size()));
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    const Stage here = stage_of_frame(line.substr(0, colon), line.substr(colon + 1));
    const bool inside_training = stage != Stage::unknown && !is_startup(stage) && is_startup(here);
    if (here != Stage::unknown && !inside_training) stage = here;
  }
  return stage;
}

}  // namespace l4::segment
