#include "aggregator/detect/nics/nics.h"

#include <doctest/doctest.h>

#include <vector>

#include "aggregator/cards/nic_table.h"
#include "aggregator/job/view.h"
#include "tests/aggregator/detect/nics/made_cards.h"

namespace l4::detect::nics {
namespace {

using job::test::after;
using job::test::MadeJob;
using test::add_card;
using test::Card;

/// Four nodes whose ranks print iterations every two seconds.
MadeJob made(int nodes = 4, std::int64_t iterations = 60) {
  MadeJob job(nodes);
  job.iterate_all(1, iterations, 2000);
  return job;
}

void add_rise(MadeJob& job, int node, const std::string& counter, bool fault, std::int64_t s) {
  job.nics_of(node).rises.push_back({after(s * 1000), 0, counter, fault, 12, 52});
}

TEST_CASE("nics: a job that steps on has a period, and all its cards are active") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) add_card(job, node, {.period_s = 2.4}, 120);
  const auto view = job.view();
  const Nics found = find_nics(view);
  REQUIRE(found.nics.size() == 4);
  REQUIRE(found.period_s);
  CHECK(*found.period_s == doctest::Approx(2.4).epsilon(.01));
  for (const Nic& nic : found.nics) CHECK(nic.activity == Activity::active);
  CHECK_FALSE(found.silent);
  CHECK_FALSE(found.slowed);
  CHECK(found.first.empty());
  CHECK(found.nics[2].ranks == std::vector<Rank>{Rank{2}});
}

TEST_CASE("nics: silence, and who sent no more first") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node)
    add_card(job, node, {.stops_s = node == 2 ? 98.2 : 99.8}, 120);
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.silent);
  REQUIRE(found.first.size() == 1);
  CHECK(found.nics[found.first[0]].node == 2);
  CHECK(*found.lead >= Millis{1000});
  for (const Nic& nic : found.nics) CHECK(nic.activity == Activity::silent);
}

TEST_CASE(
    "nics: of two cards that end sending together, the one that still receives is not first") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node)
    add_card(job, node, {.stops_s = node == 1 ? 97.9 : 99.8}, 120);
  for (wire::NicSecond& one : job.nics_of(2).seconds)
    if ((one.begin - after(0)).count() / 1000 >= 98) one.last_sent = wire::NicSecond::kNone;
  const auto view = job.view();
  const Nics found = find_nics(view);
  REQUIRE(found.first.size() == 1);
  CHECK(found.nics[found.first[0]].node == 1);
}

TEST_CASE("nics: cards that stop together have no first") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) add_card(job, node, {.stops_s = 99.8}, 120);
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.silent);
  CHECK(found.first.empty());
  CHECK_FALSE(found.lead);
}

TEST_CASE("nics: a pause as long as one seen before is no silence") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) {
    add_card(job, node, {.stops_s = 110}, 120);
    // A checkpoint of twelve seconds before.
    for (wire::NicSecond& one : job.nics_of(node).seconds)
      if (const auto s = (one.begin - after(0)).count() / 1000; s >= 60 && s < 72)
        one.tenths = {}, one.sent = one.received = 0,
        one.first = one.last = one.last_sent = wire::NicSecond::kNone;
  }
  const auto view = job.view();
  CHECK_FALSE(find_nics(view).silent);
}

TEST_CASE("nics: a node whose agent tells nothing more is unknown, not silent") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) add_card(job, node, {}, node == 1 ? 80 : 120);
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.nics[1].activity == Activity::unknown);
  CHECK(found.nics[0].activity == Activity::active);
  CHECK_FALSE(found.silent);
}

TEST_CASE("nics: a node that went out of sight before all others stopped is named without a lead") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) add_card(job, node, {.stops_s = 99.8}, node == 1 ? 99 : 120);
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.silent);
  REQUIRE(found.first.size() == 1);
  CHECK(found.nics[found.first[0]].node == 1);
  CHECK_FALSE(found.lead);
}

TEST_CASE("nics: a card for something else is idle and hides no silence") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) {
    add_card(job, node, {.stops_s = 99.8}, 120);
    add_card(job, node, {.stops_s = 0}, 120, "mlx5_1/1");
  }
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.silent);
  REQUIRE(found.nics.size() == 8);
  CHECK(found.nics[1].activity == Activity::idle);
  CHECK(found.nics[1].ranks.empty());  // which of two cards a rank uses is not known
}

TEST_CASE("nics: fewer bytes a second are longer steps") {
  MadeJob job = made(4, 100);
  for (int node = 0; node < 4; ++node) add_card(job, node, {.slow_from_s = 150}, 220);
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.slowed);
  CHECK(found.slow_ratio == doctest::Approx(2).epsilon(.1));
  REQUIRE(found.period_s);
}

TEST_CASE("nics: counters that rose, faults first") {
  MadeJob job = made();
  for (int node = 0; node < 4; ++node) add_card(job, node, {}, 120);
  add_rise(job, 1, "np_cnp_sent", false, 30);
  add_rise(job, 1, "symbol_error", true, 40);
  add_rise(job, 1, "symbol_error", true, 50);
  const auto view = job.view();
  const Nics found = find_nics(view);
  REQUIRE(found.nics[1].rises.size() == 2);
  CHECK(found.nics[1].rises[0].counter == "symbol_error");
  CHECK(found.nics[1].rises[0].rise == 24);
  CHECK(found.nics[1].rises[0].first == after(40'000));
  CHECK(found.nics[1].rises[0].last == after(50'000));
  CHECK(found.nics[0].rises.empty());
}

TEST_CASE("nics: a job without cards has nothing") {
  MadeJob job = made();
  const auto view = job.view();
  const Nics found = find_nics(view);
  CHECK(found.nics.empty());
  CHECK_FALSE(found.silent);
}

}  // namespace
}  // namespace l4::detect::nics
