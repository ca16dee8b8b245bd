#include "aggregator/pool/shelf.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/aggregator/pool/made_run.h"

namespace l4 {
namespace {

using test::made_event;
using test::made_run;

std::shared_ptr<const pool::Run> kept(pool::Run run, const std::string& kind) {
  run.kind = kind;
  return std::make_shared<const pool::Run>(std::move(run));
}

wire::TemplateDefinition define(std::uint32_t id, const pool::Event& event) {
  wire::TemplateDefinition made;
  made.id = LocalTemplateId{id};
  made.text = event.text;
  made.level = event.level;
  made.skeletons = {Skeleton{event.id.value()}};
  return made;
}

TEST_CASE("shelf: a run belongs to those that print alike, not to those that share a launcher") {
  const pool::Shelf shelf({kept(made_run("a", "alpha"), "A"), kept(made_run("b", "beta"), "B")});
  REQUIRE(shelf.kinds().size() == 2);
  const auto alpha = pool::marks_of(made_run("c", "alpha").events);
  REQUIRE(shelf.kind_of(alpha) != nullptr);
  CHECK(shelf.kind_of(alpha)->id == "A");
  CHECK(shelf.kind_of(pool::marks_of(made_run("d", "gamma").events)) == nullptr);
  // 6 of 26 are common to all programs.
  CHECK(pool::likeness(alpha, *shelf.kinds()[1]) == doctest::Approx(6.0 / 26));
  CHECK(pool::likeness(alpha, *shelf.kinds()[0]) == doctest::Approx(1));
}

TEST_CASE("shelf: a job that has just begun is known by six things that it has said") {
  const pool::Shelf shelf({kept(made_run("a", "alpha"), "A")});
  auto marks = pool::marks_of(made_run("c", "alpha").events);
  marks.resize(5);
  CHECK(shelf.kind_of(marks) == nullptr);
  marks = pool::marks_of(made_run("c", "alpha").events);
  marks.resize(6);
  CHECK(shelf.kind_of(marks) != nullptr);
}

TEST_CASE("shelf: errors do not make a job another kind") {
  const pool::Shelf shelf({kept(made_run("a", "alpha"), "A")});
  pool::Run failing = made_run("c", "alpha");
  for (int i = 0; i < 200; ++i)
    failing.events.push_back(
        made_event("broke in a new way, no " + std::string(static_cast<std::size_t>(i) + 1, 'x'),
                   Level::error));
  CHECK(shelf.kind_of(pool::marks_of(failing.events)) != nullptr);
}

TEST_CASE("shelf: what is normal comes in the job's own ids, however its texts were generalised") {
  pool::Run first = made_run("a", "alpha"), second = made_run("b", "alpha");
  first.events.push_back(made_event("the corpus was opened for reading today at shard one"));
  second.events.push_back(made_event("the corpus was opened for reading today at shard <*>"));
  second.events.back().node_count_max = 70;
  const pool::Shelf shelf({kept(first, "A"), kept(second, "A")});
  job::TemplateTable templates;
  templates.define(0,
                   define(0, made_event("the corpus was opened for reading today at shard six")));
  templates.define(0, define(1, made_event("alpha does part a of its work")));
  templates.define(0, define(2, made_event("an ECC error was found", Level::error)));
  const diagnose::Pool pool = pool::normal_of(*shelf.kinds()[0], templates);
  CHECK(pool.runs == 2);
  const auto* shard = pool.find(templates.resolve(0, LocalTemplateId{0}));
  REQUIRE(shard != nullptr);
  CHECK(shard->runs == 2);
  CHECK(shard->node_count_max == 70);
  REQUIRE(pool.find(templates.resolve(0, LocalTemplateId{1})) != nullptr);
  CHECK(pool.find(templates.resolve(0, LocalTemplateId{2})) == nullptr);
}

}  // namespace
}  // namespace l4
