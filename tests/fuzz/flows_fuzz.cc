// Arbitrary bytes as flow records: CSV, messages of IPFIX and NetFlow v9, lines of nfdump, topology
// files. They are refused with a reason or read; records that come out are usable and go through
// the analyser.
#include <string>

#include "aggregator/flows/analyser.h"
#include "aggregator/flows/decode/csv.h"
#include "aggregator/flows/decode/export_packets.h"
#include "aggregator/flows/decode/nfdump.h"
#include "aggregator/flows/decode/topology_file.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::fuzz::require;
namespace flows = l4::flows;
namespace decode = l4::flows::decode;

/// Takes records as the program does.
struct Taken {
  flows::Topology topology;
  flows::Analyser analyser{topology, {{}, 64}};
  void operator()(const flows::FlowRecord& record) {
    require(decode::why_unusable(record).empty(), "a record that comes out is usable");
    analyser.add(record);
  }
};

void try_csv(std::string_view text, std::size_t piece) {
  Taken taken;
  decode::Exporters exporters;
  decode::CsvReader reader("f.csv", exporters);
  const decode::Sink sink = std::ref(taken);
  for (std::size_t at = 0; at < text.size(); at += piece)
    if (!reader.feed(text.substr(at, piece), sink)) return;
  (void)reader.finish(sink);
  (void)taken.analyser.finish();
}

/// Messages one after another, each behind two bytes with its length.
void try_messages(std::string_view text) {
  Taken taken;
  decode::Exporters exporters;
  decode::ExportDecoder decoder(exporters);
  const decode::Sink sink = std::ref(taken);
  while (text.size() >= 2) {
    const std::size_t size = std::min<std::size_t>(
        static_cast<std::uint8_t>(text[0]) * 256u + static_cast<std::uint8_t>(text[1]),
        text.size() - 2);
    decoder.message(text.substr(2, size), "peer", "datagram", sink);
    text.remove_prefix(2 + size);
  }
  (void)taken.analyser.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  flows::FlowRecord record;
  switch (input.steer % 4) {
    case 0:
      try_csv(input.text, 1 + input.steer / 4);
      break;
    case 1:
      try_messages(input.text);
      break;
    case 2:
      if (decode::parse_nfdump_line(input.text, record))
        require(decode::why_unusable(record).empty(), "a record of nfdump is usable");
      break;
    default:
      if (const auto topology = decode::parse_topology(input.text, "t.json"); !topology)
        require(!topology.error().text().empty(), "a refusal has a reason");
  }
  return 0;
}
