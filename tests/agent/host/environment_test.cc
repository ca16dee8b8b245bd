#include "agent/host/environment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;

TEST_CASE("environment: only the closed list is kept") {
  FakeProc fake;
  fake.set(1, {.environment = {"RANK=3", "AWS_SECRET_ACCESS_KEY=abc", "HF_TOKEN=x=y", "PATH=/bin",
                               "RANKS=9", "RAN=1", "LOCAL_RANK=", "=4", "nothing",
                               "SLURM_JOB_ID=77", "MY_RANK=1"}});
  const auto environment = read_environment(fake.proc(), Pid{1});
  REQUIRE(environment);
  CHECK(environment->size() == 3);
  CHECK(environment->get("RANK") == "3");
  CHECK(environment->get("SLURM_JOB_ID") == "77");
  REQUIRE(environment->find("LOCAL_RANK") != nullptr);
  CHECK(environment->get("LOCAL_RANK").empty());
  CHECK(environment->find("HF_TOKEN") == nullptr);
}

TEST_CASE("environment: the list is sorted and asks for no secrets") {
  const auto keys = environment_keys();
  CHECK(std::ranges::is_sorted(keys));
  for (const auto key : keys)
    for (const char* word : {"TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "KEY"})
      CHECK_MESSAGE(key.find(word) == key.npos, std::string{key});
  Environment environment;
  CHECK_FALSE(environment.set("HOME", "/root"));
  CHECK(environment.empty());
}

TEST_CASE("environment: the first of two counts, long values and keys do not") {
  FakeProc fake;
  fake.set(1, {.environment = {"RANK=1", "RANK=2", "SLURM_JOB_ID=" + std::string(300, '7'),
                               std::string(5000, 'K') + "=1",
                               "TORCHELASTIC_RUN_ID=" + std::string(256, 'r')}});
  const auto environment = read_environment(fake.proc(), Pid{1});
  REQUIRE(environment);
  CHECK(environment->get("RANK") == "1");
  CHECK(environment->find("SLURM_JOB_ID") == nullptr);
  CHECK(environment->get("TORCHELASTIC_RUN_ID").size() == 256);
}

TEST_CASE("environment: entries that cross reads are whole, the last needs no end") {
  FakeProc fake;
  fake.set(1, {});
  for (int pad = 4080; pad < 4100; ++pad) {
    fake.write(1, "environ",
               "X=" + std::string(static_cast<std::size_t>(pad), 'x') + '\0' +
                   std::string{"WORLD_SIZE=1024"});
    CHECK(read_environment(fake.proc(), Pid{1})->get("WORLD_SIZE") == "1024");
  }
  CHECK(read_environment(fake.proc(), Pid{2}).error() == Unseen::gone);
}

}  // namespace
}  // namespace l4::host
