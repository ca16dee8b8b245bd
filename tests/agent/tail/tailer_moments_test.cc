// Changes of files between any two scans of the tailer, and files that are cut back.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/agent/tail/played.h"

namespace l4::tail {
namespace {

std::string lines_of_size(const std::string& word, std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += word + " " + std::to_string(i) + "\n";
  return text;
}

/// Checks that each byte of the texts was given exactly once, in any order of files.
void check_all(const Played& played, const std::vector<std::string>& texts) {
  std::vector<std::string> given, wanted;
  const auto split = [](const std::string& text, std::vector<std::string>& to) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
      to.push_back(text.substr(at, end + 1 - at));
      at = end + 1;
    }
  };
  split(played.sink.text_of_all(), given);
  for (const std::string& text : texts) split(text, wanted);
  std::ranges::sort(given);
  std::ranges::sort(wanted);
  CHECK(given == wanted);
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer moments: copied and truncated at any moment of a look") {
  for (const std::size_t old_bytes : {300, 10'000})
    for (const std::size_t new_bytes : {0, 100, 5'000, 12'000})
      for (const bool known : {false, true})
        for (int moment = 1, calls = 1'000; moment <= calls; ++moment) {
          CAPTURE(old_bytes);
          CAPTURE(new_bytes);
          CAPTURE(known);
          CAPTURE(moment);
          Options options;
          options.bytes_per_file = 4096;
          Played played(options);
          const std::string old_text = lines_of_size("old line", old_bytes);
          const std::string new_text = new_bytes == 0 ? "" : lines_of_size("new line", new_bytes);
          if (known) played.disk.append("/logs/a.log", old_text.substr(0, 20)), played.turn();
          played.disk.append("/logs/a.log", known ? old_text.substr(20) : old_text);
          calls = 0;
          bool inside = false;
          played.disk.meanwhile = [&] {
            if (inside || ++calls != moment) return;
            inside = true;
            played.disk.append("/logs/a.log.1", old_text);
            played.disk.cut("/logs/a.log", 0);
            if (!new_text.empty()) played.disk.append("/logs/a.log", new_text);
            inside = false;
          };
          played.turn();
          played.disk.meanwhile = nullptr;
          if (calls < moment) break;  // the turn made fewer calls than that
          played.pass(Millis{15'000});
          check_all(played, {old_text, new_text});
        }
}

TEST_CASE("tailer moments: a deleted file that is still read comes before one renamed past it") {
  Options options;
  options.bytes_per_file = options.bytes_per_turn = 64;
  Played played(options);
  const std::string first = lines_of_size("first", 300), second = lines_of_size("second", 300);
  played.disk.append("/logs/a.log.3", first);
  played.disk.append("/logs/a.log.2", second);
  played.disk.append("/logs/a.log", "third\n");
  played.tailer->turn(played.sink, {played.now, played.disk.now});
  CHECK(played.sink.text_of_all() == first.substr(0, 64));
  played.disk.remove("/logs/a.log.3");
  played.disk.rename("/logs/a.log.2", "/logs/a.log.4");
  played.pass(Millis{3'000});
  CHECK(played.sink.text_of_all() == first + second + "third\n");
}

TEST_CASE("tailer moments: a deleted file is let go while its packed copy gets another name") {
  for (int s = 1; s <= 20; ++s) {  // at different times after the scan of all names
    CAPTURE(s);
    Played played;
    World world{played.disk, "/logs"};
    const std::string text = lines_of_size("line", 400);
    world.append("a.log", text);
    played.turn();
    world.rename("a.log", "a.log.1");
    played.pass(Millis{s * 500});
    world.pack("a.log.1", "a.log.1.gz");
    played.turn();
    played.pass(Options{}.deleted_hold - Millis{400});
    played.disk.lose_notices = true;
    world.rename("a.log.1.gz", "a.log.2.gz");
    played.pass(Millis{60'000});
    CHECK(played.sink.text_of_all() == text);
    CHECK(played.sink.lost == 0);
  }
}

TEST_CASE("tailer moments: what turns up while a log is read may come before what is there") {
  Played played;
  const std::string first = lines_of_size("first", 400), second = lines_of_size("second", 150);
  const std::string third = lines_of_size("third", 90), fourth = lines_of_size("fourth", 100);
  played.disk.append("/logs/a.log", first);
  played.turn();
  played.disk.cut("/logs/a.log", 0);
  played.disk.append("/logs/a.log", second);
  played.turn();  // the tailer cannot know yet whether a copy of the first text is being made
  CHECK(played.sink.text_of_all() == first + second);
  played.disk.cut("/logs/a.log", 0);
  played.disk.append("/logs/a.log", third);
  played.disk.rename("/logs/a.log", "/logs/a.log.1");
  played.disk.append("/logs/a.log", fourth);
  played.pass(Millis{10'000});
  CHECK(played.sink.text_of_all() == first + second + third + fourth);
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer moments: cut back to what was read: what is written then is new") {
  Played played;
  const std::string text = lines_of_size("a line of a text", 40'000);
  played.disk.append("/logs/a.log", text);
  played.turn();
  const auto old_key = played.sink.texts.begin()->first;
  played.disk.cut("/logs/a.log", 10'005);
  played.turn();
  played.disk.append("/logs/a.log", "\nafter\n");
  played.turn();
  CHECK(played.sink.text_of_all() == text + "\nafter\n");
  CHECK(played.sink.lost == 0);
  REQUIRE(played.sink.losses.size() == 1);
  CHECK(played.sink.losses[0].why == Missing::counted);
  CHECK(played.sink.losses[0].from == 0);
  CHECK(played.sink.losses[0].to == 10'005);
  CHECK(played.sink.warned("truncated") == 1);

  played.sink.commit(*played.tailer);
  played.turn();
  CHECK(played.sink.forgot == std::vector{old_key});
  played.disk.cut("/logs/a.log", 9'000);  // once more
  played.turn();
  played.disk.append("/logs/a.log", "and again\n");
  played.turn();
  CHECK(played.sink.text_of_all() == text + "\nafter\nand again\n");

  // An aggregator may know all parts, including closed ones.
  played.sink.commit(*played.tailer);
  std::vector<Position> positions = played.tailer->positions();
  REQUIRE(positions.size() == 1);
  Position over = positions[0];
  over.file.key = old_key;
  over.offset = over.known = text.size();
  for (const bool first : {true, false}) {
    Played next;
    next.disk.append("/logs/a.log", text.substr(0, 9'000) + "and again\n");
    positions[0].file.inode = over.file.inode = next.disk.inode("/logs/a.log");
    std::vector<Position> all{positions[0], over};
    if (first) std::ranges::reverse(all);
    for (const Position& position : all) {
      next.sink.texts[position.file.key] = {position.offset, position.offset};
    }
    next.tailer->resume(all);
    next.disk.append("/logs/a.log", lines_of_size("later", 60'000));
    next.pass(Millis{15'000});
    CHECK(next.sink.text_of_all() == lines_of_size("later", 60'000));
    CHECK(next.sink.lost == 0);
  }
}

TEST_CASE("tailer moments: cut back to what was not read: the rest is read, what was cut is lost") {
  Options options;
  options.bytes_per_file = options.bytes_per_turn = 8'192;
  Played played(options);
  const std::string text = lines_of_size("a line of a text", 40'000);
  played.disk.append("/logs/a.log", text);
  played.tailer->turn(played.sink, {played.now, played.disk.now});
  CHECK(played.sink.text_of_all().size() == 8'192);
  played.disk.cut("/logs/a.log", 20'000);
  played.tailer->turn(played.sink, {played.now, played.disk.now});
  played.disk.append("/logs/a.log", "after\n");
  played.pass(Millis{3'000});
  const std::string given = played.sink.text_of_all();
  CHECK(given.size() == 20'000 + std::string("after\n").size());
  CHECK(given.ends_with("after\n"));
  CHECK(played.sink.lost == text.size() - 20'000);
}

TEST_CASE("tailer moments: a new text with the same beginning is not one that was cut back") {
  Played played;
  const std::string banner = lines_of_size("the same in every run", 6'000);
  const std::string first = banner + lines_of_size("first run", 40'000);
  const std::string second = banner + lines_of_size("second run", 20'000);
  played.disk.append("/logs/a.log", first);
  played.turn();
  played.disk.cut("/logs/a.log", 0);
  played.disk.append("/logs/a.log", second);
  played.pass(Millis{3'000});
  CHECK(played.sink.text_of_all() == first + second);
  CHECK(played.sink.lost == 0);
}

}  // namespace
}  // namespace l4::tail
