#include <doctest/doctest.h>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "common/drain/template_miner.h"

namespace l4::drain {
namespace {

std::vector<std::string> lines(int from, int to) {
  std::vector<std::string> made;
  for (int i = from; i < to; ++i) {
    made.push_back(fmt::format("loading shard {} of {} from /data/part-{}", i, to, i));
    made.push_back(fmt::format("user u{}x logged in from host{}", i % 13, i));
    made.push_back(fmt::format("worker {} entered state {}", i, std::string(1 + i % 7, 'q')));
    made.push_back(fmt::format("option color_{} has value {}", std::string(1 + i % 5, 'z'), i));
    made.push_back(fmt::format("the {} thing failed with exit code {}", i % 2 ? "odd" : "even", i));
    made.push_back(std::string(1 + i % 11, 'w') + " alone");
  }
  return made;
}

}  // namespace

TEST_CASE("a frozen miner finds the same templates as before") {
  TemplateMiner miner;
  for (const std::string& line : lines(0, 60)) miner.learn(line);
  const std::vector<std::string> asked = lines(30, 140);
  std::vector<std::optional<LocalTemplateId>> before;
  std::vector<LocalTemplateId> standing;
  for (const std::string& line : asked) before.push_back(miner.find(line));
  for (std::uint32_t id = 0; id < 200; ++id)
    standing.push_back(miner.canonical(LocalTemplateId{id}));
  const std::size_t size = miner.size();
  miner.freeze();
  for (std::size_t i = 0; i < asked.size(); ++i) CHECK(miner.find(asked[i]) == before[i]);
  for (std::uint32_t id = 0; id < 200; ++id)
    CHECK(miner.canonical(LocalTemplateId{id}) == standing[id]);
  CHECK(miner.size() == size);
}

}  // namespace l4::drain
