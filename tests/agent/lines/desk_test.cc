#include "agent/lines/desk.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <optional>

namespace l4::lines {
namespace {

TEST_CASE("desk: works from a question on until its answer is taken") {
  Desk desk(tail::real_file_system());
  CHECK_FALSE(desk.works());
  Task task;
  task.number = 7;
  REQUIRE(desk.submit(std::move(task)));
  std::optional<Done> done;
  for (int i = 0; i < 100 && !done; ++i) {
    CHECK(desk.works());
    pollfd wait{desk.descriptor(), POLLIN, 0};
    ::poll(&wait, 1, 100);
    done = desk.poll();
  }
  REQUIRE(done);
  CHECK(done->number == 7);
  CHECK_FALSE(desk.works());
}

}  // namespace
}  // namespace l4::lines
