#include "agent/host/roles.h"

#include <doctest/doctest.h>

namespace l4::host {
namespace {

constexpr Part O = Part::other, R = Part::rank, L = Part::launcher, H = Part::helper;

Candidate one(int pid, std::vector<int> ancestors, int rank, std::size_t rule = 0) {
  Candidate out;
  out.pid = Pid{pid};
  for (const int ancestor : ancestors) out.ancestors.push_back(Pid{ancestor});
  if (rank >= 0) out.rank = Rank{rank};
  if (rank >= 0) out.rule = rule;
  return out;
}

TEST_CASE("roles: a launcher without a rank, two ranks, and the workers of one") {
  const auto parts = assign_parts({one(10, {1}, -1), one(11, {10}, 0), one(12, {10}, 1),
                                   one(13, {11, 10}, 0), one(14, {13, 11, 10}, 0)});
  CHECK(parts == std::vector{L, R, R, H, H});
}

TEST_CASE("roles: torchrun under srun has the number of its task") {
  // torchrun: SLURM_PROCID=0 (rule 11); its first rank has RANK=0 (rule 0).
  CHECK(assign_parts({one(10, {1}, 0, 11), one(11, {10}, 0, 0)}) == std::vector{L, R});
  CHECK(assign_parts({one(10, {1}, 1, 11), one(11, {10}, 8, 0), one(12, {10}, 9, 0)}) ==
        std::vector{L, R, R});
}

TEST_CASE("roles: a shell in front of the rank, with the same environment") {
  auto shell = one(10, {1}, 3, 11);
  shell.wrapper_name = true;
  CHECK(assign_parts({shell, one(11, {10}, 3, 11), one(12, {11, 10}, 3, 11)}) ==
        std::vector{L, R, H});
  // A shell alone is not a rank: the program that it runs writes elsewhere.
  CHECK(assign_parts({shell}) == std::vector{H});
}

TEST_CASE("roles: a chain may lead over processes that hold no log") {
  CHECK(assign_parts({one(10, {1}, 5), one(30, {25, 20, 10, 1}, 5)}) == std::vector{R, H});
}

TEST_CASE("roles: without ranks there are none") {
  auto launcher = one(10, {1}, -1);
  launcher.launcher_name = true;
  CHECK(assign_parts({launcher, one(11, {10}, -1), one(12, {1}, -1)}) == std::vector{L, O, O});
  CHECK(assign_parts({}).empty());
}

TEST_CASE("roles: launchers by their command line, not by an argument of the script") {
  using namespace std::string_view_literals;
  CHECK(names_launcher("/usr/bin/python3\0/opt/bin/torchrun\0--nnodes\0002\0"sv));
  CHECK(names_launcher("python3\0-m\0torch.distributed.run\0train.py\0"sv));
  CHECK(names_launcher("python3\0-u\0-m\0torch.distributed.launch\0"sv));
  CHECK(names_launcher("torchrun\0train.py\0"sv));
  CHECK(names_launcher("/usr/bin/mpirun\0-np\0008\0"sv));
  CHECK_FALSE(names_launcher("python3\0train.py\0--launcher\0torchrun\0"sv));
  CHECK_FALSE(names_launcher("python3\0-u\0train.py\0deepspeed\0"sv));
  CHECK_FALSE(names_launcher("python3\0-m\0train\0torchrun\0"sv));
  CHECK_FALSE(names_launcher(""sv));
  CHECK(names_wrapper("bash"));
  CHECK_FALSE(names_wrapper("python3"));
}

TEST_CASE("roles: what a launcher was told that its job is called") {
  using namespace std::string_view_literals;
  CHECK(rendezvous_of("python3\0torchrun.py\0--rdzv_id\0job-7\0--nnodes\0002\0"sv) == "job-7");
  CHECK(rendezvous_of("torchrun\0--rdzv-id=job-8\0train.py\0"sv) == "job-8");
  CHECK(rendezvous_of("torchrun\0--rdzv_id"sv).empty());
  CHECK(rendezvous_of("torchrun\0--rdzv_backend\0c10d\0"sv).empty());
}

}  // namespace
}  // namespace l4::host
