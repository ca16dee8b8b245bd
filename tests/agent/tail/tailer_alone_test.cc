// A tailer that began without the aggregator's positions, and gets them later.
#include <doctest/doctest.h>

#include <string>

#include "agent/tail/text_file.h"
#include "tests/agent/tail/played.h"

namespace l4::tail {
namespace {

std::string lines(const char* what, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::string(what) + " line of some length, number " + std::to_string(i) + "\n";
  return text;
}

/// The position of the only file at another reader that counted all that was read.
Position counted_by_other(const Tailer& tailer) {
  auto positions = tailer.positions();
  REQUIRE(positions.size() == 1);
  positions[0].file.key += 1'000;
  positions[0].offset = positions[0].known;
  return positions[0];
}

TEST_CASE("tailer alone: a deleted file that gets another key is let go in time") {
  Options options;
  options.deleted_hold = Millis{2'000};
  Played played(options);
  played.tailer->resume({}, Known::by_us);
  played.disk.append("/logs/a.log", lines("a", 20));
  played.pass(Millis{1'000});
  const Position counted = counted_by_other(*played.tailer);
  played.disk.remove("/logs/a.log");
  played.pass(Millis{400});
  CHECK(played.disk.open_files == 1);
  CHECK(played.tailer->resume({&counted, 1}).size() == 1);
  played.pass(Millis{5'000});
  CHECK(played.disk.open_files == 0);
}

TEST_CASE("tailer alone: what is deleted is read again for another listener") {
  Played played;
  played.disk.append("/logs/a.log", "counted\n");
  played.disk.append("/logs/idle.log", "counted\n");
  played.pass(Millis{1'000});
  played.sink.commit(*played.tailer);
  played.disk.append("/logs/a.log", "and more\n");
  played.pass(Millis{1'000});
  played.disk.remove("/logs/a.log");
  played.pass(Millis{1'000});
  played.sink.forget_uncommitted();
  played.sink.order.clear();
  played.tailer->begin_anew();
  played.pass(Millis{2'000});
  CHECK(played.sink.text_of_all() == "and more\n");
  CHECK(played.sink.logs.size() == 1);  // the other log has nothing new
  CHECK(played.sink.losses.empty());
}

TEST_CASE("tailer alone: first bytes are kept as long as it matters") {
  Played played;
  played.tailer->resume({}, Known::by_us);
  for (const char* name : {"a", "b", "c"})
    played.disk.append("/logs/" + std::string(name) + ".log", lines(name, 3));
  played.pass(Millis{1'000});
  CHECK(played.tailer->counters().heads == 3);
  played.disk.remove("/logs/a.log");
  played.pass(Millis{70'000});
  played.sink.commit(*played.tailer);
  played.pass(Millis{1'000});
  CHECK(played.sink.forgot.size() == 1);
  CHECK(played.tailer->counters().heads == 2);
  played.tailer->all_known();
  CHECK(played.tailer->counters().heads == 0);
  played.disk.append("/logs/d.log", lines("d", 3));
  played.pass(Millis{1'000});
  CHECK(played.sink.text_of_all().ends_with(lines("d", 3)));
  CHECK(played.tailer->counters().heads == 0);
}

TEST_CASE("tailer alone: a short beginning does not make a new text the one that is counted") {
  for (const bool is_short : {true, false}) {
    CAPTURE(is_short);
    const std::string banner =
        is_short ? "== begin ==\n" : "== a banner of some length begins ==\n";
    Played played;
    played.tailer->resume({}, Known::by_us);
    played.disk.append("/logs/a.log", banner + lines("new", 3));
    played.pass(Millis{1'000});
    Position counted = counted_by_other(*played.tailer);
    counted.file.inode += 1;
    counted.file.fingerprint_bytes = static_cast<std::uint32_t>(banner.size());
    counted.file.fingerprint = fingerprint_of(banner);
    counted.offset = banner.size();
    CHECK(played.tailer->resume({&counted, 1}).size() == (is_short ? 0 : 1));
  }
}

TEST_CASE("tailer: what a copy has of what is read again is read, only the rest is lost") {
  Played played;
  const std::string all = lines("early", 30);
  played.disk.append("/logs/a.log", all);
  played.pass(Millis{1'000});
  const std::uint64_t key = played.tailer->positions()[0].file.key;
  const std::size_t counted = all.size() / 2, copied = all.size() - 100;
  played.tailer->commit(key, counted, 15);
  played.disk.write_new("/logs/a.log.1", all.substr(0, copied));
  played.disk.cut("/logs/a.log", 0);
  played.disk.append("/logs/a.log", lines("late", 2));
  played.disk.now += Millis{10'000};
  played.pass(Millis{8'000});
  REQUIRE(played.sink.text_of_all() == all + lines("late", 2));
  REQUIRE(played.sink.lost == 0);
  for (const Position& other : played.tailer->positions())
    if (other.file.key != key) played.tailer->commit(other.file.key, other.known, 2);
  auto& text = played.sink.texts[key];
  text.to = counted;
  played.tailer->rewind();
  played.pass(Millis{8'000});
  CHECK(text.to == all.size());
  CHECK(played.sink.lost == all.size() - copied);
}

}  // namespace
}  // namespace l4::tail
