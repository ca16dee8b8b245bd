// Clues and notices from network cards.
#include <doctest/doctest.h>

#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/diagnose/network_notes.h"
#include "tests/aggregator/detect/nics/made_cards.h"
#include "tests/aggregator/diagnose/clues/made_scene.h"

namespace l4::diagnose::clues {
namespace {

using detect::nics::test::add_card;
using job::test::after;
using job::test::MadeJob;
using test::MadeScene;

/// Four nodes that stop after 100 s; the card of node 2 sends no more from `first_stops_s` on.
MadeJob stopped_job(double first_stops_s) {
  MadeJob job(4);
  job.iterate_all(1, 50, 2000);
  for (int node = 0; node < 4; ++node)
    add_card(job, node, {.stops_s = node == 2 ? first_stops_s : 99.8}, 130);
  return job;
}

std::vector<Clue> clues_of(MadeJob& job, State state) {
  MadeScene scene(job);
  scene.state = state;
  scene.findings().nics = detect::nics::find_nics(scene.view());
  return scene.clues(nics);
}

TEST_CASE("nic clues: the node whose card sent no more first") {
  MadeJob job = stopped_job(98.2);
  const auto clues = clues_of(job, State::hung);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].kind == ClueKind::nic_silent_first);
  CHECK(clues[0].whose == Whose::node);
  CHECK(clues[0].index == 2);
  CHECK(clues[0].strength == doctest::Approx(1.0));
  CHECK(sentence(clues[0].kind, clues[0].facts) ==
        "its network card mlx5_0/1 sent no more 1.8 s before all others");
  CHECK(clues_of(job, State::slow).empty());
}

TEST_CASE("nic clues: errors near a stop accuse the node of the card, congestion nobody") {
  MadeJob job = stopped_job(99.8);
  job.nics_of(1).rises = {{after(97'000), 0, "packet_seq_err", true, 31, 40},
                          {after(97'000), 0, "np_cnp_sent", false, 900, 900}};
  job.nics_of(3).rises = {{after(97'000), 0, "port_xmit_wait", false, 900, 900}};
  const auto clues = clues_of(job, State::hung);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].kind == ClueKind::nic_errors);
  CHECK(clues[0].index == 1);
  CHECK(text_of(clues[0].facts, FactKind::counter) == "packet_seq_err");
  CHECK(sentence(clues[0].kind, clues[0].facts).find("hardware, network") != std::string::npos);
}

TEST_CASE("nic clues: a job whose cards all stop together and count nothing gives none") {
  MadeJob job = stopped_job(99.8);
  CHECK(clues_of(job, State::hung).empty());
  CHECK(clues_of(job, State::crashed).empty());
}

TEST_CASE("nic clues: errors that rise while the job goes on are a notice") {
  MadeJob job(4);
  job.iterate_all(1, 60, 2000);
  for (int node = 0; node < 4; ++node) add_card(job, node, {}, 120);
  job.nics_of(1).rises = {{after(50'000), 0, "symbol_error", true, 31, 40}};
  job.nics_of(2).rises = {{after(50'000), 0, "symbol_error", true, 2, 2}};
  job.nics_of(3).rises = {{after(50'000), 0, "link_downed", true, 1, 1}};
  const auto view = job.view();
  std::vector<Notable> notable;
  add_nic_errors(view, detect::nics::find_nics(view), notable);
  REQUIRE(notable.size() == 2);
  CHECK(notable[0].kind == "nic_errors");
  CHECK(notable[0].node == "node-1");
  CHECK(notable[0].rank == Rank{1});
  CHECK(notable[0].count == 31);
  CHECK(notable[1].node == "node-3");
}

}  // namespace
}  // namespace l4::diagnose::clues
