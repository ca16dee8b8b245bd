// Files of flow records: which kind each is, and their records in turn.
//
// Place in the flow: paths of `l4 flows` -> read_flows -> records -> the analyser. Kinds are told
// by content: CSV with a header, IPFIX messages one after another (RFC 5655), files of nfcapd
// and sfcapd, which the program nfdump reads. Of a folder the flow files are read by name; where it
// holds several kinds, the first of CSV, IPFIX, nfcapd. Damage costs what is damaged, not the rest
// of a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aggregator/flows/decode/exporters.h"
#include "aggregator/flows/decode/input.h"
#include "common/base/error.h"

namespace l4::flows::decode {

struct FlowFiles {
  Counts counts;
  std::vector<std::filesystem::path> read, left_out;
  std::filesystem::path topology;  ///< topology.json in a folder that was read; empty: none
  ExporterSettings announced;      ///< what the records say about their exporter
};

/// Error: a path cannot be read, or holds no flow records.
Result<FlowFiles> find_flow_files(const std::vector<std::filesystem::path>& paths);

/// Hands all records of files.read to `sink`. Error: a file cannot be read at all.
Result<void> read_flows(FlowFiles& files, const Sink& sink);

}  // namespace l4::flows::decode
