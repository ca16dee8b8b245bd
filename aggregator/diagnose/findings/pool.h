// The pool of normal events, from healthy runs of the same kind of job (paper 5.2).
//
// Place in the flow: views of healthy runs in, one entry per event known from them out; hints and
// the spatial comparison read it. Events align by their job-wide ids, since the runs share one
// TemplateTable. Plain values.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"

namespace l4::job {
struct EventView;
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct PoolEvent {
  std::uint32_t runs = 0;            ///< healthy runs that have it
  std::uint64_t node_count_max = 0;  ///< largest count on one node of one run
  double node_rate_max = 0;          ///< largest count per line of a node, on one node of one run
};

struct Pool {
  std::uint32_t runs = 0;
  std::uint32_t wordless = 0;  ///< runs without a line that says that the job ended well
  double slowed = 1;           ///< as slowed_by(), the most of any run
  std::unordered_map<TemplateId, PoolEvent> events;

  const PoolEvent* find(TemplateId id) const {
    const auto found = events.find(id);
    return found == events.end() ? nullptr : &found->second;
  }
};

void add_run(Pool& pool, const job::JobView& healthy);

/// How many times as long the iterations of a healthy run took from some on; 1: none did. What an
/// evaluation or a program's own schedule does to healthy runs tells of no fault.
double slowed_by(const job::JobView& healthy);

/// Occurrences of an event on each node of the view.
std::vector<std::uint64_t> counts_by_node(const job::JobView& view, const job::EventView& event);
/// Lines of each node.
std::vector<std::uint64_t> lines_by_node(const job::JobView& view);

}  // namespace l4::diagnose
