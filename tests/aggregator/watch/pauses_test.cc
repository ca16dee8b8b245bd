// Deadlines against numbers worked out by hand from the rules.
#include "aggregator/watch/pauses.h"

#include <doctest/doctest.h>

namespace l4::watch {
namespace {

constexpr PauseKind kIteration{Stage::training, false};
constexpr PauseKind kCheckpoint{Stage::checkpoint_save, false};
constexpr PauseKind kStart{Stage::init, true};

Millis deadline(const Pauses& pauses, PauseKind kind, std::int64_t floor) {
  return pauses.deadline(kind, Millis{floor});
}

}  // namespace

TEST_CASE("pauses: a kind never seen has three times the job's largest, or four floors") {
  Pauses pauses;
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{40'000});
  pauses.add(kIteration, Millis{20'000});
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{60'000});
  CHECK_FALSE(pauses.may_confirm(kCheckpoint));
}

TEST_CASE("pauses: a kind seen one to four times") {
  Pauses pauses;
  pauses.add(kCheckpoint, Millis{8'000});
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{24'000});  // 3 * 8 s, the job's largest
  pauses.add(kIteration, Millis{15'000});
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{45'000});  // 3 * 15 s
  Pauses quick;
  quick.add(kCheckpoint, Millis{500});
  CHECK(deadline(quick, kCheckpoint, 10'000) == Millis{10'000});
  for (int i = 0; i < 4; ++i) quick.add(kCheckpoint, Millis{500});
  // The job's largest pause no longer counts once the kind is known.
  CHECK(deadline(quick, kCheckpoint, 10'000) == Millis{10'000});
  CHECK(quick.may_confirm(kCheckpoint));
}

TEST_CASE("pauses: a known kind has its own scatter, twice its largest, or the floor") {
  Pauses steady;
  for (int i = 0; i < 100; ++i) steady.add(kIteration, Millis{1000});
  // exp(ln 1000 + 6 * 0.1) = 1822; 2 * 1000.
  CHECK(deadline(steady, kIteration, 500) == Millis{2000});
  CHECK(deadline(steady, kIteration, 10'000) == Millis{10'000});

  Pauses scattered;
  for (const int ms : {1000, 1200, 1440, 1728, 2074}) scattered.add(kIteration, Millis{ms});
  // m = ln 1440, sigma = ln 1.2: 1440 * 1.2^6 = 4299.8; 2 * 2074 = 4148.
  CHECK(deadline(scattered, kIteration, 1000).count() == doctest::Approx(4299).epsilon(0.001));

  Pauses wide;
  for (const int ms : {1000, 2000, 4000, 8000, 16'000}) wide.add(kIteration, Millis{ms});
  // m = ln 4000, sigma = ln 2: 4000 * 64 is beyond 3 * 16,000.
  CHECK(deadline(wide, kIteration, 1000).count() == doctest::Approx(48'000).epsilon(0.001));
}

TEST_CASE("pauses: the scatter is of the last two hundred, the largest of all") {
  Pauses pauses;
  pauses.add(kIteration, Millis{9000});
  for (int i = 0; i < 400; ++i) pauses.add(kIteration, Millis{100});
  CHECK(deadline(pauses, kIteration, 1000) == Millis{18'000});
  CHECK(pauses.typical(kIteration).count() == doctest::Approx(100).epsilon(0.02));
  CHECK(pauses.seen(kIteration) == 401);
}

TEST_CASE("pauses: what was seen before the first iteration says nothing of later ones") {
  Pauses pauses;
  for (int i = 0; i < 10; ++i) pauses.add(kStart, Millis{30'000});
  CHECK(deadline(pauses, kStart, 10'000) == Millis{90'000});
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{40'000});
  CHECK_FALSE(pauses.may_confirm(kStart));
}

TEST_CASE("pauses: a long one is four times and a second longer than usual, and rare") {
  Pauses pauses;
  for (int i = 0; i < 11; ++i) pauses.add(kIteration, Millis{200});
  CHECK_FALSE(pauses.is_long(kIteration, Millis{3200}));  // too few are known
  for (int i = 0; i < 189; ++i) pauses.add(kIteration, Millis{200});
  CHECK(pauses.is_long(kIteration, Millis{3200}));
  CHECK_FALSE(pauses.is_long(kIteration, Millis{1100}));
  CHECK_FALSE(pauses.is_long(kCheckpoint, Millis{3200}));  // another kind
  for (int i = 0; i < 10; ++i) pauses.add(kIteration, Millis{3200});
  CHECK(pauses.is_long(kIteration, Millis{3200}));
  pauses.add(kIteration, Millis{3200});
  CHECK_FALSE(pauses.is_long(kIteration, Millis{3200}));
  CHECK(pauses.is_long(kIteration, Millis{9000}));

  Pauses slow;
  for (int i = 0; i < 50; ++i) slow.add(kIteration, Millis{20'000});
  CHECK_FALSE(slow.is_long(kIteration, Millis{70'000}));
  CHECK(slow.is_long(kIteration, Millis{90'000}));
}

TEST_CASE("pauses: those of earlier jobs serve until there are five of its own") {
  Pauses pauses;
  pauses.warm(kStart, Millis{50'000});
  pauses.warm(kIteration, Millis{20'000});
  CHECK(deadline(pauses, kStart, 10'000) == Millis{100'000});  // 40 s without the earlier jobs
  pauses.add(kStart, Millis{70'000});
  CHECK(deadline(pauses, kStart, 10'000) == Millis{140'000});
  CHECK(deadline(pauses, kIteration, 10'000) == Millis{40'000});
  for (int i = 0; i < 4; ++i) pauses.add(kIteration, Millis{100});
  CHECK(deadline(pauses, kIteration, 10'000) == Millis{40'000});
  pauses.add(kIteration, Millis{100});
  CHECK(deadline(pauses, kIteration, 10'000) == Millis{10'000});
  CHECK(deadline(pauses, kCheckpoint, 10'000) == Millis{40'000});
  pauses.cool();
  CHECK(deadline(pauses, kStart, 10'000) == Millis{210'000});
}

}  // namespace l4::watch
