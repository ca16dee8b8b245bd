// The attempts of a job, numbered: those that agents count and paths name (torchrun's attempt_A),
// put together over all nodes (starts.h), and within one the runs that its files hold one after
// another.
//
// Place in the flow: aggregator/job/view.h asks which streams belong to the attempt it shows; who
// wants a verdict asks for all numbers. An attempt of one run keeps the number of its path; further
// runs count on from there. A file with fewer runs than others is placed by time: it belongs to the
// newest run that had begun when it last spoke; to the newest of all if its last quarter carries no
// time. What the kernel says of a rank has no attempt of its own, and is placed by time, too. Pure;
// built from a JobState, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/job/job_state.h"
#include "aggregator/job/starts.h"

namespace l4::job {

class Attempts {
 public:
  /// A stream, and whose it is.
  struct Speaker {
    const AgentSlice* agent;
    const Stream* stream;
  };

  explicit Attempts(const JobState& state);

  const JobState& state() const { return *state_; }

  /// Of those that are kept; ascending; at least {0}.
  std::vector<std::int32_t> numbers() const;
  /// Runs before them that the job let go.
  std::size_t let_go() const;

  /// The attempt of a stream; none for a launcher's that speaks in all of them.
  std::optional<std::int32_t> of(const AgentSlice& agent, const Stream& stream) const;
  /// The attempt of a rank's process, by its start; not by the runs of files.
  std::int32_t of(const std::string& node, const wire::ProcessFact& fact) const;
  /// Who speaks in an attempt, by agent and source; those that speak in all of them, too.
  std::vector<Speaker> speakers(std::int32_t number) const;

  /// The attempt goes on in the files of the one before, which is over: nobody restarted that one.
  bool is_rerun(std::int32_t number) const;

 private:
  struct File {
    std::uint32_t runs = 0;
    bool has_ranks = false;
    bool counts = false;  ///< its runs are attempts: it holds ranks, or nobody's file does
  };
  struct PathAttempt {
    std::int32_t first = 0;                        ///< number of its first run
    std::vector<std::optional<TimeMs>> begins{1};  ///< of each run, in files that hold them all
  };
  struct Placed {
    std::size_t order;  ///< among all streams of the job
    Speaker speaker;
  };
  static std::size_t first_kept(const PathAttempt& attempt);
  std::int32_t start_of(const Stream& stream) const;
  const File& file_of(const AgentSlice& agent, const Stream& stream) const;
  std::optional<std::int32_t> begun_by(TimeMs time) const;

  const JobState* state_;
  Starts starts_;
  std::set<std::int32_t> told_;  ///< attempts that are so numbered by an agent or a path
  std::set<std::int32_t> with_runs_;
  std::map<std::pair<std::string, std::string>, File> files_;  // by agent and path
  std::map<std::int32_t, PathAttempt> attempts_;               // by the number in the path
  std::map<std::int32_t, std::vector<Placed>> speakers_;
  std::vector<Placed> in_all_;
};

}  // namespace l4::job
