#include "aggregator/job/lineage.h"

#include <doctest/doctest.h>

#include <utility>

namespace l4::job {
namespace {

wire::TemplateDefinition defines(std::uint32_t id, std::vector<Skeleton> skeletons,
                                 std::uint32_t generation = 0) {
  wire::TemplateDefinition made;
  made.id = LocalTemplateId{id};
  made.text = "template " + std::to_string(id);
  made.skeletons = std::move(skeletons);
  made.generation = generation;
  return made;
}

wire::SourceDefinition source(std::uint32_t id, const std::string& path) {
  wire::SourceDefinition made;
  made.id = SourceId{id};
  made.path = path;
  made.node = "node";
  return made;
}

wire::Batch batch(std::uint64_t incarnation, std::vector<wire::TemplateDefinition> templates) {
  wire::Batch made;
  made.agent = "node";
  made.incarnation = incarnation;
  made.templates = std::move(templates);
  return made;
}

wire::Segment counts(std::uint32_t source, std::uint32_t id) {
  wire::Segment segment;
  segment.source = SourceId{source};
  segment.events.push_back({LocalTemplateId{id}, 1, 1, {}});
  segment.order.push_back({LocalTemplateId{id}, 1});
  segment.timers.push_back({0, 1, 1, 1});
  return segment;
}

TEST_CASE("lineage: the first incarnation keeps its ids") {
  Lineage lineage;
  wire::Batch first = batch(7, {defines(0, {Skeleton{5}}), defines(1, {Skeleton{9}})});
  first.sources = {source(0, "a"), source(1, "b")};
  first.segments = {counts(1, 1)};
  const wire::Batch before = first;
  lineage.translate(first);
  CHECK(first == before);
}

TEST_CASE("lineage: a later incarnation is known by what it names") {
  Lineage lineage;
  wire::Batch first = batch(7, {defines(0, {Skeleton{5}}, 2), defines(1, {Skeleton{9}})});
  first.sources = {source(0, "a"), source(1, "b")};
  first.timers = {{0, "forward", wire::TimerKind::own}};
  lineage.translate(first);
  // Everything comes in another order, and one of each kind is new. Incarnation 8 names only
  // skeleton 5 of the old template 0.
  wire::Batch second = batch(8, {defines(0, {Skeleton{9}, Skeleton{11}}), defines(1, {Skeleton{5}}),
                                 defines(2, {Skeleton{30}})});
  second.sources = {source(0, "b"), source(1, "c")};
  second.timers = {{0, "backward", wire::TimerKind::own}, {1, "forward", wire::TimerKind::own}};
  second.segments = {counts(0, 1), counts(1, 2), counts(5, 0)};
  second.forgotten = {LocalTemplateId{2}};
  lineage.translate(second);
  REQUIRE(second.templates.size() == 2);  // the definition of the old 0 adds nothing
  CHECK(second.templates[0].id.value() == 1);
  CHECK(second.templates[0].generation == 1);
  CHECK(second.templates[0].skeletons == std::vector{Skeleton{9}, Skeleton{11}});
  CHECK(second.templates[1].id.value() == 2);
  CHECK(second.sources[0].id.value() == 1);
  CHECK(second.sources[1].id.value() == 2);
  CHECK(second.timers[0].timer == 1);
  CHECK(second.timers[1].timer == 0);
  CHECK(second.segments[0].source.value() == 1);
  CHECK(second.segments[0].events[0].id.value() == 0);
  CHECK(second.segments[0].order[0].id.value() == 0);
  CHECK(second.segments[0].timers[0].timer == 1);
  CHECK(second.segments[1].source.value() == 2);
  CHECK(second.segments[1].events[0].id.value() == 2);
  CHECK(second.segments[2].source.value() > 1000);  // the source was never defined
  CHECK(second.forgotten[0].value() == 2);
  CHECK(lineage.called("node", LocalTemplateId{0}) == LocalTemplateId{1});
  CHECK_FALSE(lineage.called("node", LocalTemplateId{2}));
  // A later generation of this incarnation is higher than all former ones.
  wire::Batch later = batch(8, {defines(1, {Skeleton{5}, Skeleton{6}}, 1)});
  lineage.translate(later);
  REQUIRE(later.templates.size() == 1);
  CHECK(later.templates[0].id.value() == 0);
  CHECK(later.templates[0].generation == 4);
}

TEST_CASE("lineage: templates do not multiply with restarts") {
  Lineage lineage;
  std::uint32_t most = 0;
  for (std::uint64_t incarnation = 1; incarnation <= 50; ++incarnation) {
    wire::Batch made = batch(incarnation, {});
    for (std::uint32_t id = 0; id < 10; ++id)
      made.templates.push_back(defines(9 - id, {Skeleton{id + 1ULL}}));
    made.segments = {counts(0, 3)};
    lineage.translate(made);
    for (const wire::TemplateDefinition& one : made.templates)
      most = std::max(most, one.id.value());
  }
  CHECK(most == 9);
}

wire::SourceDefinition run_of(std::uint32_t id, std::uint32_t run) {
  wire::SourceDefinition made = source(id, "rank0.log");
  made.run = run;
  return made;
}

TEST_CASE("lineage: an agent that was started again goes on in the newest run of a file") {
  for (const bool saved : {false, true}) {
    Lineage lineage;
    const auto named = [&](std::uint64_t incarnation, std::uint32_t id, std::uint32_t run) {
      wire::Batch made = batch(incarnation, {});
      made.sources = {run_of(id, run)};
      lineage.translate(made);
      if (saved) {
        ByteWriter out;
        lineage.save(out);
        lineage = {};
        ByteReader in(out.bytes());
        lineage.load(in);
        REQUIRE(in.ok());
      }
      return std::pair(made.sources[0].id.value(), made.sources[0].run);
    };
    CHECK(named(7, 0, 0) == std::pair(0u, 0u));
    CHECK(named(7, 1, 1) == std::pair(1u, 1u));
    CHECK(named(7, 0, 0) == std::pair(0u, 0u));  // the same source again
    CHECK(named(8, 0, 0) == std::pair(1u, 1u));
    CHECK(named(8, 1, 1) == std::pair(2u, 2u));
    CHECK(named(8, 0, 0) == std::pair(1u, 1u));
    CHECK(named(9, 0, 0) == std::pair(2u, 2u));
  }
}

TEST_CASE("lineage: saved and loaded it goes on alike") {
  Lineage lineage;
  wire::Batch first = batch(7, {defines(0, {Skeleton{5}}), defines(1, {Skeleton{9}})});
  first.sources = {source(0, "a")};
  first.timers = {{0, "forward", wire::TimerKind::own}};
  lineage.translate(first);
  wire::Batch second = batch(8, {defines(0, {Skeleton{9}, Skeleton{10}})});
  lineage.translate(second);
  ByteWriter saved;
  lineage.save(saved);
  Lineage loaded;
  ByteReader in(saved.bytes());
  loaded.load(in);
  REQUIRE(in.ok());
  CHECK(in.left() == 0);
  for (const std::uint64_t incarnation : {8ULL, 9ULL}) {
    wire::Batch a = batch(incarnation, {defines(3, {Skeleton{5}}), defines(4, {Skeleton{77}})});
    a.sources = {source(2, "a"), source(3, "z")};
    a.segments = {counts(2, 4), counts(3, 3)};
    wire::Batch b = a;
    lineage.translate(a);
    loaded.translate(b);
    CHECK(a == b);
  }
  ByteWriter again;
  loaded.save(again);
  ByteWriter once_more;
  lineage.save(once_more);
  CHECK(std::ranges::equal(again.bytes(), once_more.bytes()));
}

}  // namespace
}  // namespace l4::job
