#include "aggregator/flows/decode/flow_files.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/temp_folder.h"

namespace l4::flows::decode {
namespace {

void write(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

constexpr std::string_view kCsv = "start_ns,end_ns,src,dst,bytes\n1,2,10.0.0.1,10.0.0.2,3\n";

}  // namespace

TEST_CASE("of a folder the flow files are read, of one kind, with its topology") {
  const test::TempFolder folder;
  write(folder.path() / "b.csv", kCsv);
  write(folder.path() / "a.csv", kCsv);
  write(folder.path() / "counters.csv", "time_ns,server\n1,a\n");
  write(folder.path() / "flows.ipfix", std::string_view("\0\x0a\0\x10", 4));
  write(folder.path() / "topology.json", "{}");
  auto files = find_flow_files({folder.path()});
  REQUIRE(files);
  REQUIRE(files->read.size() == 2);
  CHECK(files->read[0].filename() == "a.csv");
  CHECK(files->left_out.size() == 1);
  CHECK(files->topology.filename() == "topology.json");
  std::size_t records = 0;
  REQUIRE(read_flows(*files, [&](const FlowRecord&) { ++records; }));
  CHECK(records == 2);
}

TEST_CASE("damage in an IPFIX file costs what lies behind it, and is told with its byte") {
  const test::TempFolder folder;
  const std::string message("\0\x0a\0\x10\0\0\0\1\0\0\0\0\0\0\0\0", 16);
  write(folder.path() / "f.ipfix", message + message + std::string("\0\x0a\0\2", 4));
  auto files = find_flow_files({folder.path() / "f.ipfix"});
  REQUIRE(files);
  REQUIRE(read_flows(*files, [](const FlowRecord&) {}));
  REQUIRE(files->counts.told.size() == 1);
  CHECK(files->counts.told[0].text().find("byte 32") != std::string::npos);
}

TEST_CASE("a path that is not there, or holds no flow records, is an error") {
  const test::TempFolder folder;
  CHECK_FALSE(find_flow_files({folder.path() / "nowhere"}));
  CHECK_FALSE(find_flow_files({folder.path()}));
  write(folder.path() / "log.txt", "hello\n");
  CHECK_FALSE(find_flow_files({folder.path() / "log.txt"}));
}

}  // namespace l4::flows::decode
