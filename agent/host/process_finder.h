// Makes processes with a part and an identity from a scan of log writers.
//
// Flow: HolderScan -> find_processes -> ProcessWatch. Reads environment, command line and parents
// of the processes of one scan; keeps nothing. Bounds: `processes_max`, direct writers of a log
// first; the others are counted.
#pragma once

#include <string>
#include <vector>

#include "agent/host/holder_scan.h"
#include "agent/host/identity.h"

namespace l4::host {

/// A log file to watch, and the node that it belongs to.
struct LogFile {
  std::string path;  ///< as discover and the tailer know it
  std::string node;
  FileKey key;
};

struct FoundProcess {
  ProcessStat stat;
  Part part = Part::other;
  Identity identity;
  std::string ranks_job;          ///< of a launcher without a job: what all ranks below it name
  std::string node;               ///< node of most of its logs
  std::vector<std::size_t> logs;  ///< indices, ascending
  Via via = Via::direct;          ///< the most direct way
};

struct Found {
  std::vector<FoundProcess> processes;  ///< ascending by pid
  std::size_t environments_denied = 0, left_out = 0, of_two_nodes = 0;
};

Found find_processes(const Proc& proc, const std::vector<LogFile>& logs,
                     const std::vector<Holding>& holdings, const IdentityHints& hints,
                     std::size_t processes_max);

}  // namespace l4::host
