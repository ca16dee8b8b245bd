#include "common/base/nearest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4 {
namespace {

TEST_CASE("nearest: a typo finds what was meant") {
  const std::vector<std::string> words{"--top", "--tz", "--threads", "--history"};
  CHECK(nearest_word("--tpo", words) == "--top");
  CHECK(nearest_word("--thread", words) == "--threads");
  CHECK(nearest_word("--hsitory", words) == "--history");
  CHECK(nearest_word("--frobnicate", words).empty());
}

TEST_CASE("nearest: several, nearest first") {
  const std::vector<std::string> words{"nccl_alloc", "nccl_alloc_failed", "nccl_abort", "xid_lost"};
  using Words = std::vector<std::string>;
  CHECK(nearest_words("nccl_allc", words, 3) == Words{"nccl_alloc", "nccl_abort"});
  CHECK(nearest_words("nccl_a", words, 2) == Words{"nccl_alloc", "nccl_alloc_failed"});
  CHECK(nearest_words("rocm", words, 3).empty());
}

}  // namespace
}  // namespace l4
