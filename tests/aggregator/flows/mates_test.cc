#include "aggregator/flows/mates.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace l4::flows {
namespace {

constexpr std::uint32_t kSampling = 1024;

/// Transfers of which some packets are seen; their sizes differ by `variation`, as a share.
Track track(std::uint32_t src, std::uint32_t dst, double packets, double variation, unsigned seed,
            int transfers = 3'000) {
  std::mt19937 random(seed);
  std::normal_distribution<double> size(packets, packets * variation);
  auto rows = std::make_shared<std::vector<Row>>();
  for (int i = 0; i < transfers; ++i) {
    std::poisson_distribution<std::uint32_t> seen(
        std::max(0.01, variation > 0 ? size(random) : packets));
    if (const std::uint32_t count = seen(random); count > 0)
      rows->push_back(
          {i * kSecond, i * kSecond + kMillisecond, count * 4'096'000ull, seed, count * kSampling});
  }
  return {seed, src, dst, *rows, rows};
}

/// Two cards of a server exchange with two of another: no triangle of cards.
std::vector<Track> exchange(double variation, unsigned seed) {
  std::vector<Track> tracks;
  for (const std::uint32_t one : {0u, 1u})
    for (const std::uint32_t two : {2u, 3u}) {
      tracks.push_back(track(one, two, 2.3, variation, seed++));
      tracks.push_back(track(two, one, 2.3, variation, seed++));
    }
  return tracks;
}

std::size_t varying(const std::vector<Track>& tracks, const std::vector<std::uint32_t>& streams) {
  const auto vary = vary_sampled(tracks, streams, {kSampling, 0, 0, false});
  return static_cast<std::size_t>(std::ranges::count(vary, true));
}

std::vector<std::uint32_t> all_of(const std::vector<Track>& tracks) {
  std::vector<std::uint32_t> all(tracks.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

}  // namespace

TEST_CASE("streams of one exchange show together that sizes differ, where one alone does not") {
  std::size_t alone = 0;
  for (unsigned seed = 100; seed < 200; seed += 10) {
    const auto tracks = exchange(0.3, seed);
    CHECK(varying(tracks, all_of(tracks)) == tracks.size());
    for (const std::uint32_t one : all_of(tracks)) alone += varying(tracks, {one});
  }
  CHECK(alone < 60);  // of 80
}

TEST_CASE("equal sizes scatter by sampling alone, in one stream and in many") {
  for (unsigned seed = 100; seed < 200; seed += 10) {
    const auto tracks = exchange(0, seed);
    CHECK(varying(tracks, all_of(tracks)) == 0);
  }
}

TEST_CASE("streams of another size are judged apart from those of their cards") {
  auto tracks = exchange(0.3, 300);
  tracks.push_back(track(0, 2, 9, 0, 400));
  tracks.push_back(track(2, 0, 2.3, 0, 401, 1'500));
  const auto vary = vary_sampled(tracks, all_of(tracks), {kSampling, 0, 0, false});
  CHECK(vary[0]);
  CHECK_FALSE(vary[8]);  // larger
  CHECK_FALSE(vary[9]);  // fewer
}

}  // namespace l4::flows
