// Numbers the attempts of a job. Agents count attempts, and paths name them (torchrun's attempt_A);
// starts.h puts the counts of all nodes together. The files of one attempt may hold several runs,
// one after another; each run gets a number, too.
//
// Place in the flow: aggregator/job/view.h asks which streams belong to the attempt that it shows;
// diagnose asks for all numbers. An attempt of one run keeps the number of its path; further runs
// count on from there. A file with fewer runs than others is placed by time: it belongs to the
// newest run that had begun when its last line was printed, or to the newest of all if its last
// quarter carries no time. Kernel messages about a rank name no attempt and are placed by time,
// too. Pure; built from a JobState, which must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aggregator/job/job_state.h"
#include "aggregator/job/starts.h"

namespace l4::job {

class Attempts {
 public:
  /// A stream and its agent.
  struct Speaker {
    const AgentSlice* agent;
    const Stream* stream;
  };

  explicit Attempts(const JobState& state);

  const JobState& state() const { return *state_; }

  /// Numbers of the attempts that are kept, ascending; at least {0}.
  std::vector<std::int32_t> numbers() const;
  /// Earlier runs that the job has dropped.
  std::size_t dropped() const;

  /// The attempt of a stream of the state; none for a launcher's stream, which belongs to all
  /// attempts.
  std::optional<std::int32_t> of(const AgentSlice& agent, const Stream& stream) const;
  /// The attempt of a rank's process, from its start alone; the runs of files are not used.
  std::int32_t of(const std::string& node, const wire::ProcessFact& fact) const;
  /// Streams of an attempt, by agent and source, with those that belong to all attempts.
  std::vector<Speaker> speakers(std::int32_t number) const;

  /// The attempt is a new run of the job in the files of an earlier run that is over: no restart of
  /// that run.
  bool is_rerun(std::int32_t number) const;

 private:
  struct File {
    std::uint32_t runs = 0;
    bool has_ranks = false;
    bool counts = false;  ///< the file's runs are attempts: the file holds ranks, or no file does
  };
  /// A path of an agent, as the state has it.
  struct FileKey {
    const AgentSlice* agent;
    std::string_view path;
    bool operator==(const FileKey&) const = default;
  };
  struct FileHash {
    std::size_t operator()(const FileKey& key) const noexcept {
      return std::hash<const void*>()(key.agent) ^ std::hash<std::string_view>()(key.path);
    }
  };
  struct PathAttempt {
    std::int32_t first = 0;                        ///< number of its first run
    std::vector<std::optional<TimeMs>> begins{1};  ///< by run, from files that hold all runs
  };
  struct Placed {
    std::size_t order;  ///< position among all streams of the job
    Speaker speaker;
  };
  struct Filed {
    Speaker speaker;
    File* file;
  };
  static std::size_t first_kept(const PathAttempt& attempt);
  std::int32_t start_of(const Stream& stream) const;
  std::optional<std::int32_t> of(const Stream& stream, const File& file) const;
  std::vector<Filed> file_streams();
  void find_begins(const std::vector<Filed>& streams);
  std::optional<std::int32_t> begun_by(TimeMs time) const;

  const JobState* state_;
  Starts starts_;
  std::set<std::int32_t> told_;  ///< numbers that an agent or a path gave
  std::set<std::int32_t> with_runs_;
  std::unordered_map<FileKey, File, FileHash> files_;
  std::map<std::int32_t, PathAttempt> attempts_;  // by the number in the path
  std::map<std::int32_t, std::vector<Placed>> speakers_;
  std::vector<Placed> in_all_;
};

}  // namespace l4::job
