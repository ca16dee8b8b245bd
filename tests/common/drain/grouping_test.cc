#include "common/drain/grouping.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

namespace l4::drain {
namespace {

/// Groups of `open file WORD now`, found after all rows were inserted.
std::size_t groups_of(Grouping& grouping, const std::vector<std::string>& words) {
  std::set<GroupId> groups;
  for (const int round : {0, 1}) {
    if (round == 1) groups.clear();
    for (const std::string& word : words)
      groups.insert(grouping.insert(row_of_text("open file " + word + " now")));
  }
  return groups.size();
}

TEST_CASE("grouping: the fifth value of a place makes one group, whichever came first") {
  Grouping grouping({.values_min = 5});
  CHECK(groups_of(grouping, {"alpha", "beta", "gamma", "delta"}) == 4);
  CHECK(groups_of(grouping, {"alpha", "beta", "gamma", "delta", "eta"}) == 1);
}

TEST_CASE("grouping: values of forgotten groups no longer count") {
  for (const std::size_t kept : {0U, 1U, 2U, 3U}) {
    CAPTURE(kept);
    Grouping grouping({.values_min = 5});
    const std::vector<std::string> words{"alpha", "beta", "gamma"};
    std::vector<GroupId> forgotten;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const GroupId id = grouping.insert(row_of_text("open file " + words[i] + " now"));
      if (i >= kept) forgotten.push_back(id);
    }
    grouping.forget(forgotten);
    std::vector<std::string> more{"delta", "eta", "iota", "kappa"};
    more.resize(4 - kept);
    CHECK(groups_of(grouping, more) == more.size());
    more.push_back("sigma");
    CHECK(groups_of(grouping, more) == 1);
  }
}

TEST_CASE("grouping: a saved grouping continues as if it had not been saved") {
  const std::vector<std::string> words{"alpha", "beta", "gamma", "delta"};
  for (std::size_t known = 0; known <= words.size(); ++known) {
    Grouping live({.values_min = 5});
    groups_of(live, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(known)});
    ByteWriter bytes;
    live.save(bytes);
    Grouping loaded({.values_min = 5});
    ByteReader in(bytes.bytes());
    loaded.load(in);
    REQUIRE(in.ok());
    CHECK(groups_of(loaded, words) == 4);
    loaded.insert(row_of_text("open file eta now"));
    CHECK(groups_of(loaded, words) == 1);
  }
}

TEST_CASE("grouping: memory is bounded, and merged groups stay merged") {
  Grouping grouping({.rows_max = 400, .values_min = 5});
  CHECK(groups_of(grouping, {"alpha", "beta", "gamma", "delta", "eta"}) == 1);
  for (int i = 0; i < 2'000; ++i) {
    std::string word = "w";
    for (int left = i; left > 0; left /= 26) word += static_cast<char>('a' + left % 26);
    grouping.insert(row_of_text(fmt::format("{0} says {0}s of it", word)));
  }
  CHECK(grouping.dropped_rows() > 0);
  CHECK(groups_of(grouping, {"alpha", "omega"}) == 1);
}

}  // namespace
}  // namespace l4::drain
