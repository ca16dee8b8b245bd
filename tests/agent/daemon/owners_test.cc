#include "agent/daemon/owners.h"

#include <doctest/doctest.h>

namespace l4::daemon {
namespace {

TEST_CASE("owners: a configured rank is that of logs for which neither process nor path has one") {
  const Owners owners({"", "", "node-1", Rank{6}, 2}, nullptr);
  const Owner own = owners.of("/logs/job-1/train.log", "/logs", {});
  CHECK(own.facts.rank == Rank{6});
  CHECK(own.facts.local_rank == 2);
  CHECK(own.facts.kind == wire::SourceKind::rank);
  const Owner by_path = owners.of("/logs/job-1/rank3.log", "/logs", {});
  CHECK(by_path.facts.rank == Rank{3});
  const Owner launcher = owners.of("/logs/job-1/node-1/agent.log", "/logs", {});
  CHECK(launcher.facts.kind == wire::SourceKind::launcher);
  CHECK_FALSE(launcher.facts.rank);
}

TEST_CASE("owners: without a configured rank a log that names none has none") {
  const Owners owners({"", "", "node-1"}, nullptr);
  const Owner own = owners.of("/logs/job-1/train.log", "/logs", {});
  CHECK_FALSE(own.facts.rank);
  CHECK(own.facts.kind == wire::SourceKind::other);
}

}  // namespace
}  // namespace l4::daemon
