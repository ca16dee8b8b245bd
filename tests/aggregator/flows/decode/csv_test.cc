#include "aggregator/flows/decode/csv.h"

#include <doctest/doctest.h>

namespace l4::flows::decode {
namespace {

struct Read {
  std::vector<FlowRecord> records;
  Counts counts;
  Result<void> done;
  std::vector<std::string> exporters;
};

Read read(std::string_view text, std::size_t piece = 1'000'000) {
  Read result;
  Exporters exporters;
  CsvReader reader("f.csv", exporters);
  const Sink sink = [&](const FlowRecord& record) { result.records.push_back(record); };
  for (std::size_t at = 0; at < text.size() && result.done; at += piece)
    result.done = reader.feed(text.substr(at, piece), sink);
  if (result.done) result.done = reader.finish(sink);
  result.counts = reader.counts();
  result.exporters = exporters.names();
  return result;
}

constexpr std::string_view kFile =
    "bytes,src,dst,colour,end_ns,start_ns,exporter,sequence,packets,proto,src_port,dst_port\n"
    "1000,10.0.0.1,10.0.0.2,red,30,20,leaf-1,7,3,17,50000,4791\n"
    "\n"
    "2000,fe80::1,fe80::2,,50,40,leaf-2,8,4,6,1,2\r\n";

}  // namespace

TEST_CASE("columns stand in any order, and unknown ones are skipped") {
  for (const std::size_t piece : {1, 7, 1'000'000}) {
    const Read result = read(kFile, piece);
    REQUIRE(result.done);
    REQUIRE(result.records.size() == 2);
    const FlowRecord& record = result.records[0];
    CHECK(record.start == 20);
    CHECK(record.end == 30);
    CHECK(to_text(record.src) == "10.0.0.1");
    CHECK(record.bytes == 1000);
    CHECK(record.packets == 3);
    CHECK(record.protocol == 17);
    CHECK(record.src_port == 50000);
    CHECK(record.dst_port == 4791);
    CHECK(record.has_sequence);
    CHECK(record.sequence == 7);
    CHECK(result.exporters == std::vector<std::string>{"leaf-1", "leaf-2"});
    CHECK(result.counts.bad == 0);
  }
}

TEST_CASE("a bad row is told with its place, and the others are read") {
  const Read result = read(
      "start_ns,end_ns,src,dst,bytes,sequence\n"
      "20,30,10.0.0.1,10.0.0.2,5,\n"
      "20,x30,10.0.0.1,10.0.0.2,5,1\n"
      "20,30,10.0.0.1,10.0.0.256,5,1\n"
      "20,30,10.0.0.1\n"
      "30,20,10.0.0.1,10.0.0.2,5,1\n"
      "20,30,10.0.0.1,10.0.0.2,-5,1\n"
      "20,30,10.0.0.1,10.0.0.2,6,1");
  REQUIRE(result.done);
  CHECK(result.records.size() == 2);
  CHECK_FALSE(result.records[0].has_sequence);
  CHECK(result.counts.records == 2);
  CHECK(result.counts.bad == 5);
  REQUIRE(result.counts.told.size() == 5);
  CHECK(result.counts.told[0].text() == "f.csv:3, column end_ns: 'x30' cannot be read");
  CHECK(result.counts.told[1].text() == "f.csv:4, column dst: '10.0.0.256' cannot be read");
  CHECK(result.counts.told[2].text() == "f.csv:5: 3 of 6 columns");
}

TEST_CASE("a file without a needed column, or without a header, cannot be read") {
  const Read result = read("start_ns,end_ns,src,bytes\n1,2,10.0.0.1,3\n");
  REQUIRE_FALSE(result.done);
  CHECK(result.done.error().text() == "f.csv:1: the header has no column dst");
  CHECK_FALSE(read("").done);
}

TEST_CASE("a line without end is skipped, not kept") {
  std::string text = "start_ns,end_ns,src,dst,bytes\n";
  text += std::string(3 * CsvReader::kLineMax, '7') + "\n20,30,10.0.0.1,10.0.0.2,5\n";
  const Read result = read(text, 1000);
  REQUIRE(result.done);
  CHECK(result.records.size() == 1);
  CHECK(result.counts.bad == 1);
}

}  // namespace l4::flows::decode
