// What the collector of flow records is told, and what it has counted.
//
// Flow: [flows] of aggregator.toml -> CollectOptions -> FlowCollector -> CollectCounts -> /metrics.
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "aggregator/flows/job_flows.h"
#include "common/base/time.h"

namespace l4::collect {

struct CollectOptions {
  std::string listen;                   ///< ADDRESS:PORT; empty: nothing is received
  std::filesystem::path topology;       ///< file; empty: not known
  std::vector<std::string> exporters;   ///< addresses that may send; empty: all
  flows::ExporterSettings exporter;     ///< what exporters do not tell themselves
  std::size_t buffer_bytes = 16 << 20;  ///< asked of the kernel
  std::size_t rows_max = 2'000'000;     ///< kept for learning, 32 bytes each
  Millis learn_every{30'000};           ///< by the clock of the records, or of this host
  Millis forget_after{3'600'000};       ///< silence after which a job is dropped
};

struct CollectCounts {
  bool on = false;
  std::uint64_t datagrams = 0, bytes = 0;
  std::uint64_t dropped = 0;    ///< by the kernel, because nobody took them in time
  std::uint64_t strangers = 0;  ///< of senders that may not send
  std::uint64_t bad = 0;        ///< messages, sets or records that could not be read
  std::uint64_t unknown = 0;    ///< data sets that came before their template
  std::uint64_t ahead = 0;      ///< records later than this host's clock
  std::uint64_t buffer_bytes = 0, exporters = 0;
  Millis busy{0};  ///< time spent on records and learning
  flows::AnalyserCounts flows;
};

}  // namespace l4::collect
