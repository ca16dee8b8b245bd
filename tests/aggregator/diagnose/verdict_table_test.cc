// The table that makes a state of facts.
#include "aggregator/diagnose/verdict_table.h"

#include <doctest/doctest.h>

namespace l4::diagnose {
namespace {

TEST_CASE("verdict: each row of the table decides for some facts") {
  for (const VerdictRow& row : verdict_rows()) {
    CHECK(clues::claim_of(row.ground) == clues::Claim::state);
    CHECK(&row_of(row.all) == &row);
    const bool says_why = row.state == State::finished || row.state == State::unknown;
    if (!says_why) CHECK(row.because.empty());
  }
}

}  // namespace
}  // namespace l4::diagnose
