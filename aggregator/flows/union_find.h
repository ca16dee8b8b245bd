// Sets of numbered things that are joined pair by pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace l4::flows {

class UnionFind {
 public:
  explicit UnionFind(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), std::uint32_t{0});
  }
  std::uint32_t find(std::uint32_t one) {
    while (parents_[one] != one) one = parents_[one] = parents_[parents_[one]];
    return one;
  }
  /// The smaller number stands for both.
  void join(std::uint32_t one, std::uint32_t two) {
    one = find(one);
    two = find(two);
    if (one == two) return;
    if (one < two)
      parents_[two] = one;
    else
      parents_[one] = two;
  }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace l4::flows
