#include "agent/discover/rotation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/temp_folder.h"

namespace l4::discover {
namespace {

using Kind = RotatedName::Kind;
using Names = std::vector<std::string>;

TEST_CASE("rotation: what a name says") {
  struct Row {
    const char* name;
    const char* base;
    Kind kind;
    bool inner;
  };
  const Row rows[] = {
      {"rank0.log", "rank0.log", Kind::current, false},
      {"rank0.log.1", "rank0.log", Kind::numbered, false},
      {"rank0.log.12.gz", "rank0.log", Kind::numbered, false},
      {"rank0.log.3.zst", "rank0.log", Kind::numbered, false},
      {"rank0.log-20261120", "rank0.log", Kind::dated, false},
      {"rank0.log-20261120.gz", "rank0.log", Kind::dated, false},
      {"rank0.log-20261120-1763654400.gz", "rank0.log", Kind::dated, false},
      {"rank0.log.2026-11-20", "rank0.log", Kind::dated, false},
      {"rank0.log.2026-11-20_15-54-21", "rank0.log", Kind::dated, false},
      {"0.log.20261120-155421.gz", "0.log", Kind::dated, false},
      {"rank0.log.old", "rank0.log", Kind::old, false},
      {"train.1.log", "train.log", Kind::numbered, true},
      {"train-20261120.log", "train.log", Kind::dated, true},
      {"train.2026-11-20_15-54-21_123456.log.gz", "train.log", Kind::dated, true},
      {"slurm-4711.out.1", "slurm-4711.out", Kind::numbered, false},
      {"rank.1.log", "rank.1.log", Kind::current, false},
      {"worker.3.log", "worker.3.log", Kind::current, false},
      {"rank-3.log", "rank-3.log", Kind::current, false},
      {"slurm-20261120.out", "slurm.out", Kind::dated, true},  // counts only beside slurm.out
      {"train.log.0", "train.log.0", Kind::current, false},
      {"train.log.001", "train.log.001", Kind::current, false},
      {"nccl.gpu-58.4711", "nccl.gpu-58.4711", Kind::current, false},
      {"12345-node-1.out", "12345-node-1.out", Kind::current, false},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.name));
    const RotatedName name = rotated_name(row.name);
    CHECK(name.base == row.base);
    CHECK(name.kind == row.kind);
    CHECK(name.inner == row.inner);
  }
}

std::string line_at(int minute) {
  return "2026-11-20 15:" + std::to_string(minute) + ":00,000 INFO ready\n";
}

/// Names of the files that were joined, oldest first, by the name of the newest.
Names joined(const std::vector<std::pair<std::string, std::string>>& files,
             const std::string& newest) {
  const l4::test::TempFolder folder;
  for (const auto& [name, text] : files) folder.file("n1/" + name, text);
  const auto found = discover({folder.path()});
  REQUIRE(found);
  for (const LogFile& file : found->files) {
    if (file.name != "n1/" + newest) continue;
    Names names;
    for (const OlderFile& older : file.older) names.push_back(older.name.substr(3));
    return names;
  }
  return {"not found"};
}

TEST_CASE("rotation: oldest first, by number, date or time") {
  CHECK(joined({{"rank0.log", line_at(40)},
                {"rank0.log.1", line_at(30)},
                {"rank0.log.2", line_at(20)},
                {"rank0.log.10", line_at(10)}},
               "rank0.log") == Names{"rank0.log.10", "rank0.log.2", "rank0.log.1"});
  CHECK(joined({{"rank0.log", "a\n"}, {"rank0.log.1", "b\n"}, {"rank0.log.2", "c\n"}},
               "rank0.log") == Names{"rank0.log.2", "rank0.log.1"});
  CHECK(joined({{"a.log", "a\n"}, {"a.log-20261120", "b\n"}, {"a.log-20261119", "c\n"}}, "a.log") ==
        Names{"a.log-20261119", "a.log-20261120"});
  CHECK(joined({{"a.log-20261120", "b\n"}, {"a.log-20261119", "c\n"}}, "a.log-20261120") ==
        Names{"a.log-20261119"});
  CHECK(joined({{"a.log", "a\n"}, {"a.1.log", "b\n"}, {"a.2.log", "c\n"}}, "a.log") ==
        Names{"a.2.log", "a.1.log"});
  // Some programs count upwards, so the times decide.
  CHECK(joined({{"a.log", line_at(40)}, {"a.1.log", line_at(20)}, {"a.2.log", line_at(30)}},
               "a.log") == Names{"a.1.log", "a.2.log"});
}

TEST_CASE("rotation: files written side by side stay apart") {
  const std::string whole_run = line_at(10) + line_at(50);
  CHECK(joined({{"a.log", whole_run}, {"a.log.1", whole_run}, {"a.log.2", whole_run}}, "a.log")
            .empty());
  CHECK(joined({{"a.log.1", "a\n"}, {"a.log.2", "b\n"}}, "a.log.1").empty());
  CHECK(joined({{"rank0.log", "a\n"}, {"rank1.log", "b\n"}}, "rank0.log").empty());
  CHECK(joined({{"worker.log", "a\n"}, {"worker.1.log", "b\n"}}, "worker.log").empty());
}

}  // namespace
}  // namespace l4::discover
