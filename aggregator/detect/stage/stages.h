// The stage of each rank, the stage in which it stopped (paper 5.3.2), and the ranks that printed
// their end.
//
// Place in the flow: a JobView in, spans over the job and a stage per rank out. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::stage {

struct Span {
  Stage stage = Stage::unknown;
  std::optional<TimeMs> begin, end;
  std::uint64_t ranks = 0;
};

struct Stages {
  std::vector<Span> spans;          ///< by begin; stages of the same name are one span
  std::vector<Stage> last_of_rank;  ///< by JobView::ranks
  std::vector<bool> finished;       ///< the rank's last line says that it ended well
};

Stages find_stages(const job::JobView& view, const job::JobClock& clock);

}  // namespace l4::detect::stage
