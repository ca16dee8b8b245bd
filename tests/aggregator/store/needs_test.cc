#include "aggregator/store/needs.h"

#include <doctest/doctest.h>

using namespace l4::store;

TEST_CASE("needs: the floor lies below the oldest unsaved record") {
  Needs needs;
  CHECK(needs.floor(Seq{0}) == Seq{0});
  needs.appended("a", Seq{1});
  needs.appended("b", Seq{2});
  needs.appended("a", Seq{3});
  CHECK(needs.floor(Seq{3}) == Seq{0});
  needs.saved("a", Seq{3});
  CHECK(needs.floor(Seq{3}) == Seq{1});
  needs.saved("b", Seq{2});
  CHECK(needs.floor(Seq{3}) == Seq{3});
}

TEST_CASE("needs: a state that was idle for long does not lower the floor") {
  Needs needs;
  needs.saved("idle", Seq{5});
  needs.appended("busy", Seq{100});
  needs.saved("busy", Seq{100});
  CHECK(needs.floor(Seq{100}) == Seq{100});
  needs.appended("idle", Seq{101});
  CHECK(needs.floor(Seq{101}) == Seq{100});
}

TEST_CASE("needs: a closed state needs nothing, unless it has later records") {
  Needs needs;
  needs.appended("a", Seq{1});
  needs.appended("a", Seq{4});
  needs.closed("a", Seq{2});
  CHECK(needs.floor(Seq{4}) == Seq{2});
  CHECK(needs.has("a"));
  needs.closed("a", Seq{4});
  CHECK(needs.floor(Seq{4}) == Seq{4});
  CHECK_FALSE(needs.has("a"));
}
