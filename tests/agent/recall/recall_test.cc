// Lines on demand: a recall finds the same lines as a reader of the whole file, and reads only the
// requested spans.
#include "agent/recall/recall.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "agent/node_agent.h"
#include "common/wire/batch.h"
#include "tests/agent/segment/pack_reading.h"
#include "tests/temp_folder.h"

namespace l4::recall {
namespace {

using segment::test::packs;
using Lines = std::set<std::pair<std::string, std::uint64_t>>;  // file name, physical line

/// Keeps the batches that an agent ships.
class Kept : public wire::Sender {
 public:
  bool send(wire::Batch batch) override {
    for (const auto& definition : batch.templates) texts[definition.id] = definition.text;
    for (const auto& source : batch.sources) sources.insert_or_assign(source.id, source);
    return true;
  }
  std::map<LocalTemplateId, std::string> texts;
  std::map<SourceId, wire::SourceDefinition> sources;
};

/// An agent that has read a folder to its end.
class ReadFolder {
 public:
  explicit ReadFolder(const std::filesystem::path& folder) : agent_(make(folder)) {
    std::atomic<std::uint64_t> bytes{0};
    agent_.read_all(kept, bytes, {});
  }

  /// The template that holds `word`; there must be one.
  LocalTemplateId id_of(const std::string& word) const {
    for (const auto& [id, text] : kept.texts)
      if (text.find(word) != std::string::npos) return id;
    FAIL("no template holds " << word);
    return {};
  }
  std::vector<Hit> recall(const Request& request) const { return agent_.recall(request); }
  /// Lines of every template that holds `word`.
  std::vector<Hit> recall(const std::string& word) const {
    Request request;
    for (const auto& [id, text] : kept.texts)
      if (text.find(word) != std::string::npos) request.wanted.push_back({id, {}, {}});
    return recall(request);
  }
  Lines lines_of(const std::vector<Hit>& hits) const {
    Lines lines;
    for (const Hit& hit : hits)
      for (const std::uint64_t line : hit.lines) {
        const bool fresh = lines.emplace(hit.file, line).second;
        CHECK_MESSAGE(fresh, "line ", line, " was found twice");
      }
    return lines;
  }

  Kept kept;

 private:
  static agent::NodeAgent make(const std::filesystem::path& folder) {
    auto found = discover::discover({folder}, {});
    REQUIRE(found.has_value());
    return agent::NodeAgent("a", std::move(found->files), packs(), {});
  }
  agent::NodeAgent agent_;
};

std::string stamp(std::int64_t ms) {
  std::string text = to_rfc3339(from_civil(2024, 3, 5, 10, 0, 0, 0) + Millis{ms});
  text[10] = ' ';
  text[19] = ',';
  text.back() = ' ';
  return text;
}

const std::vector<std::string> kWords{"alder", "birch", "cedar", "damson", "elder", "fig"};

/// One random message; `word` says which kind it is, and too many of its words to be generalised.
std::string message(const std::string& word, std::mt19937_64& random) {
  return fmt::format("{0} wood of the {0}s: {0}like, {0}ish and {0}ed, seen {1} times by node-{2}",
                     word, random() % 1000, random() % 8);
}

struct MadeLog {
  std::string text;
  std::map<std::string, std::set<std::uint64_t>> lines;  // by word
};

/// Lines with and without times, iterations, blank lines, tracebacks that fold.
MadeLog made_log(std::mt19937_64& random, bool merged) {
  MadeLog log;
  std::uint64_t line = 0;
  std::int64_t now = 0;
  int iteration = 0;
  const std::size_t size = 50 + random() % 400;
  for (std::size_t i = 0; i < size; ++i) {
    now += static_cast<std::int64_t>(random() % 400);
    const std::string& word = kWords[std::min<std::size_t>(random() % 12 * (random() % 2), 5)];
    const std::string speaker = merged ? fmt::format("[rank{}]: ", random() % 3) : "";
    switch (random() % 10) {
      case 0:
        log.text += "\n";
        ++line;
        break;
      case 1:
        log.text +=
            fmt::format("{}{}iteration {} | batch-generator: 0.2 | forward-compute: 44.8 |\n",
                        speaker, stamp(now), ++iteration);
        ++line;
        break;
      case 2:
        log.text += speaker + message(word, random) + '\n';
        log.lines[word].insert(++line);
        break;
      default:
        log.text += speaker + stamp(now) + "INFO " + message(word, random) + '\n';
        log.lines[word].insert(++line);
    }
  }
  return log;
}

/// The lines of `all` that `part` does not have.
std::string less(const Lines& all, const Lines& part) {
  std::string text;
  for (const auto& [file, line] : all)
    if (!part.contains({file, line})) text += fmt::format("{}:{} ", file, line);
  return text;
}

TEST_CASE("a recall finds each line that a full scan finds") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    const l4::test::TempFolder folder;
    std::map<std::string, Lines> expected;
    for (const std::string file : {"a/rank0.log", "a/rank1.log", "a/all.log"}) {
      const MadeLog log = made_log(random, file == "a/all.log");
      folder.file(file, log.text);
      for (const auto& [word, lines] : log.lines)
        for (const std::uint64_t line : lines) expected[word].emplace(file, line);
    }
    const ReadFolder read(folder.path());
    for (const auto& [word, lines] : expected) {
      CAPTURE(word);
      const Lines found = read.lines_of(read.recall(word));
      CHECK(less(lines, found) == "");
      CHECK(less(found, lines) == "");
    }
  }
}

TEST_CASE("a request for several templates gives the lines of each") {
  std::mt19937_64 random(5);
  const l4::test::TempFolder folder;
  folder.file("a/rank0.log", made_log(random, false).text);
  const ReadFolder read(folder.path());
  Lines alone;
  Request both;
  for (const char* word : {"alder", "cedar"}) {
    alone.merge(read.lines_of(read.recall(word)));
    for (const auto& [id, text] : read.kept.texts)
      if (text.find(word) != std::string::npos) both.wanted.push_back({id, {}, {}});
  }
  CHECK_FALSE(alone.empty());
  CHECK(read.lines_of(read.recall(both)) == alone);
  std::ranges::reverse(both.wanted);
  CHECK(read.lines_of(read.recall(both)) == alone);
}

TEST_CASE("a traceback comes with all its lines") {
  const l4::test::TempFolder folder;
  folder.file("a/rank0.log", stamp(0) + "INFO ready\n" + "Traceback (most recent call last):\n" +
                                 "  File \"/opt/train.py\", line 3, in <module>\n    main()\n" +
                                 "ValueError: birch is no tree\n" + stamp(900) + "INFO ready\n");
  const ReadFolder read(folder.path());
  const auto hits = read.recall("birch");
  REQUIRE(hits.size() == 1);
  CHECK(hits[0].lines == std::vector<std::uint64_t>{2, 3, 4, 5});
}

TEST_CASE("a recall reads the asked spans and nothing else") {
  const l4::test::TempFolder folder;
  std::string text;
  std::vector<std::size_t> starts;
  for (int i = 0; i < 9000; ++i) {
    starts.push_back(text.size());
    text += stamp(i * 100) + (i == 4000 ? "INFO a birch fell upon the wire 00\n"
                                        : "INFO an alder grew by the river 00\n");
  }
  const auto path = folder.file("a/rank0.log", text);
  const ReadFolder read(folder.path());
  // A search outside the span of line 4001 would find more lines.
  for (const std::size_t line : {100U, 1000U, 2000U, 7000U, 8900U})
    text.replace(
        starts[line], 58,
        stamp(static_cast<std::int64_t>(line) * 100) + "INFO a birch fell upon the wire 00");
  {
    std::ofstream(path, std::ios::binary) << text;
  }
  CHECK(read.lines_of(read.recall("birch")) == Lines{{"a/rank0.log", 4001}});
  // A request for those lines reads that span, too.
  CHECK(read.recall("alder").size() == 8999 - 5);
}

TEST_CASE("limits, sources, times and text are kept to") {
  const l4::test::TempFolder folder;
  for (const char* file : {"a/rank0.log", "a/rank1.log"}) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += stamp(i * 1000) + fmt::format("INFO birch number {}\n", i);
    folder.file(file, text);
  }
  const ReadFolder read(folder.path());
  const auto id = read.id_of("birch");
  CHECK(read.recall({{{id, {}, {}}}, 7, 0}).size() == 7);
  const auto shown = read.recall({{{id, {}, {}}}, 1, 13});
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].text == "INFO birch nu");
  CHECK(shown[0].time == from_civil(2024, 3, 5, 10, 0, 0, 0));
  for (const auto& [source, known] : read.kept.sources) {
    const auto hits = read.recall({{{id, {source}, {}}}, 0, 0});
    CHECK(hits.size() == 50);
    for (const Hit& hit : hits) CHECK(hit.source == source);
  }
  const TimeMs from = from_civil(2024, 3, 5, 10, 0, 40, 0);
  const auto late = read.recall({{{id, {}, from}}, 0, 0});
  CHECK(late.size() == 20);
  for (const Hit& hit : late) CHECK(*hit.time >= from);
}

TEST_CASE("each that wants a template gets its own lines, though all are read once") {
  const l4::test::TempFolder folder;
  for (const char* file : {"a/rank0.log", "a/rank1.log"}) {
    std::string text;
    for (int i = 0; i < 900; ++i)
      text += stamp(i * 1000) + fmt::format("INFO {} number {}\n", i % 3 ? "birch" : "alder", i);
    folder.file(file, text);
  }
  const ReadFolder read(folder.path());
  const auto birch = read.id_of("birch");
  const SourceId first = read.kept.sources.begin()->first;
  const TimeMs from = from_civil(2024, 3, 5, 10, 14, 0, 0);
  const std::vector<Wanted> wanted{
      {birch, {}, {}}, {birch, {first}, {}}, {read.id_of("alder"), {}, {}}, {birch, {}, from}};
  for (const std::size_t lines_max : {0, 5}) {
    std::vector<Lines> together(wanted.size());
    for (const Hit& hit : read.recall({wanted, lines_max, 0}))
      for (const std::uint64_t line : hit.lines)
        CHECK(together[hit.wanted].emplace(hit.file, line).second);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Lines alone = read.lines_of(read.recall({{wanted[i]}, lines_max, 0}));
      CHECK_FALSE(alone.empty());
      CHECK(together[i] == alone);
    }
  }
}

/// Asks for few lines in a random file of half a megabyte.
void ask_sparingly(std::uint64_t seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const l4::test::TempFolder folder;
  std::string text;
  for (int part = 0; part < 40; ++part) {
    text += made_log(random, false).text;
    if (part % 8 == 3)  // words far apart in one long segment
      for (int i = 0; i < 3000; ++i)
        text += i % 1000 == 7 ? message(kWords[static_cast<std::size_t>(part / 8)], random) + '\n'
                              : fmt::format("elm {} grew by the river\n", i);
  }
  folder.file("a/rank0.log", text);
  const ReadFolder read(folder.path());
  Request request;
  for (const auto& [id, shown] : read.kept.texts) request.wanted.push_back({id, {}, {}});
  const auto by_wanted = [&](const Request& asked) {
    std::vector<std::vector<std::uint64_t>> lines(asked.wanted.size());
    for (const Hit& hit : read.recall(asked)) lines[hit.wanted].push_back(hit.lines.front());
    return lines;
  };
  const auto all = by_wanted(request);
  for (const auto& [lines_max, bytes] : {std::pair(3, 0), {3, 70'000}, {0, 70'000}}) {
    CAPTURE(lines_max);
    request.lines_per_template_max = static_cast<std::size_t>(lines_max);
    request.bytes_for_more = static_cast<std::uint64_t>(bytes);
    const auto few = by_wanted(request);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(read.kept.texts.at(request.wanted[i].id));
      if (bytes == 0) {
        CHECK(few[i].size() == std::min<std::size_t>(all[i].size(), 3));
      } else {
        CHECK(few[i].empty() == all[i].empty());
      }
      CHECK((lines_max == 0 || few[i].size() <= 3));
      CHECK(std::ranges::includes(all[i], few[i]));
      if (!few[i].empty()) CHECK(few[i].front() == all[i].front());
    }
  }
}

TEST_CASE("a request for few lines gives the first ones") {
  ask_sparingly(2'756'450'137);  // the text before a span comes in two pieces
  ask_sparingly(std::random_device{}());
}

TEST_CASE("more of the same is not looked for without end") {
  const l4::test::TempFolder folder;
  std::string text = "a birch fell upon the wire\n";
  for (int i = 0; i < 40'000; ++i) text += fmt::format("elm {} grew by the river\n", i);
  text += "a birch fell upon the wire\n";
  folder.file("a/rank0.log", text);
  const ReadFolder read(folder.path());
  Request request{{{read.id_of("birch"), {}, {}}}, 0, 0};
  CHECK(read.recall(request).size() == 2);
  request.bytes_for_more = 100'000;
  const auto found = read.recall(request);
  REQUIRE(found.size() == 1);
  CHECK(found[0].lines == std::vector<std::uint64_t>{1});
}

TEST_CASE("lines of a rotated log are those of its physical files") {
  std::mt19937_64 random(7);
  const l4::test::TempFolder folder;
  std::map<std::string, Lines> expected;
  const std::vector<std::string> files{"a/rank0.log.2", "a/rank0.log.1", "a/rank0.log"};
  std::string offset;
  for (const std::string& file : files) {
    MadeLog log = made_log(random, false);
    if (file != files.back()) log.text.pop_back();  // the file's last line has no end
    offset += "x";
    // Later files have later times.
    for (std::size_t at = log.text.find("10:0"); at != std::string::npos;
         at = log.text.find("10:0", at + 1))
      log.text[at + 1] = static_cast<char>('0' + offset.size());
    folder.file(file, log.text);
    for (const auto& [word, lines] : log.lines)
      for (const std::uint64_t line : lines) expected[word].emplace(file, line);
  }
  const ReadFolder read(folder.path());
  for (const auto& [id, source] : read.kept.sources) CHECK(source.path == "a/rank0.log");
  for (const auto& [word, lines] : expected) {
    CAPTURE(word);
    const Lines found = read.lines_of(read.recall(word));
    CHECK(less(lines, found) == "");
    CHECK(less(found, lines) == "");
  }
}

TEST_CASE("a traceback that was rotated in the middle has lines in both files") {
  const l4::test::TempFolder folder;
  folder.file("a/rank0.log.1", stamp(0) + "INFO ready\nTraceback (most recent call last):\n");
  folder.file("a/rank0.log",
              "  File \"/opt/train.py\", line 3, in <module>\nValueError: birch is no tree\n");
  const ReadFolder read(folder.path());
  const Lines expected{{"a/rank0.log.1", 2}, {"a/rank0.log", 1}, {"a/rank0.log", 2}};
  CHECK(read.lines_of(read.recall("birch")) == expected);
}

TEST_CASE("nothing asked, nothing known, nothing left") {
  const l4::test::TempFolder folder;
  const auto path = folder.file("a/rank0.log", "birch one\nbirch two\n");
  const ReadFolder read(folder.path());
  CHECK(read.recall(Request{}).empty());
  CHECK(read.recall({{{LocalTemplateId{4711}, {}, {}}}, 0, 0}).empty());
  const auto id = read.id_of("birch");
  CHECK(read.recall({{{id, {SourceId{99}}, {}}}, 0, 0}).empty());
  std::filesystem::remove(path);
  CHECK(read.recall({{{id, {}, {}}}, 0, 0}).empty());
}

TEST_CASE("a recall learns nothing") {
  const l4::test::TempFolder folder;
  folder.file("a/rank0.log", "birch one\nalder two\nbirch three\n");
  const ReadFolder read(folder.path());
  const auto first = read.recall("birch");
  const auto second = read.recall("birch");
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].lines == second[i].lines);
}

}  // namespace
}  // namespace l4::recall
