// The report that `l4 snapshot JOB --diff WITH` compares with.
//
// Flow: command line -> compared_with -> live_command.cc, which reads or asks for it. A file of
// that name comes first; else the text decides.
#pragma once

#include <filesystem>
#include <string>

namespace l4::commands {

struct Compared {
  std::filesystem::path file;  ///< a report in JSON, `-`: standard input; empty: ask
  std::string job;             ///< the job to ask for
  std::string at;              ///< an id or a time; empty: now
};

/// `with`: a file that exists, or a name with a slash or .json; the id of a stored report of `job`,
/// or a time; JOB@ID or JOB@TIME; or else another job. A number of ten digits or more is a time in
/// seconds since the epoch; a shorter number may be a job of Slurm.
Compared compared_with(const std::string& with, const std::string& job);

}  // namespace l4::commands
