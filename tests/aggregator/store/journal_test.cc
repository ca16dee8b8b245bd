#include "aggregator/store/journal.h"

#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "tests/aggregator/store/model_files.h"
#include "tests/aggregator/store/numbered.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

JournalOptions small(std::uint64_t segment_bytes = 4096) {
  JournalOptions options;
  options.segment_bytes = segment_bytes;
  options.seed = 7;
  return options;
}

/// A journal of `count` records in groups of ten.
Journal written(ModelFiles& files, std::uint64_t count, JournalOptions options = small()) {
  Journal journal = *Journal::open(files, kJournalFolder, options);
  RecordGroup group;
  for (std::uint64_t first = 1; first <= count; first += 10) {
    group.clear();
    fill(group, first, std::min<std::uint64_t>(10, count - first + 1));
    CHECK(journal.commit(group));
  }
  return journal;
}

void check_numbers(const Replay& found, std::uint64_t from, std::uint64_t to) {
  REQUIRE(found.size() == to - from + 1);
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].first == from + i);
    CHECK(found[i].second == numbered(from + i));
  }
}

}  // namespace

TEST_CASE("journal: replays in order over many segments") {
  ModelFiles files;
  written(files, 200);
  CHECK(files.list(kJournalFolder)->size() > 3);
  Journal again = *Journal::open(files, kJournalFolder, small());
  CHECK(again.last() == Seq{200});
  check_numbers(everything(again), 1, 200);
  check_numbers(everything(again, nullptr, Seq{150}), 151, 200);
}

TEST_CASE("journal: numbers continue behind the checkpoints, also without a journal") {
  ModelFiles files;
  Journal journal = *Journal::open(files, kJournalFolder, small(), Seq{500});
  CHECK(journal.last() == Seq{500});
  RecordGroup group;
  fill(group, 501, 3);
  CHECK(journal.commit(group));
  check_numbers(everything(*Journal::open(files, kJournalFolder, small())), 501, 503);
}

TEST_CASE("journal: a torn tail is truncated and counted, and its file gets no more records") {
  ModelFiles files;
  written(files, 5);
  const std::string name = files.list(kJournalFolder)->front();
  Bytes& content = files.content(kJournalFolder / name);
  const std::size_t whole = content.size();
  content.resize(whole - 3);
  Journal again = *Journal::open(files, kJournalFolder, small());
  CHECK(again.last() == Seq{4});
  CHECK(again.torn_bytes() > 0);
  CHECK(files.content(kJournalFolder / name).size() ==
        whole - record_bytes(3, 6, numbered(5).size()));
  RecordGroup group;
  fill(group, 5, 2);
  CHECK(again.commit(group));
  Replayed replayed;
  check_numbers(everything(*Journal::open(files, kJournalFolder, small()), &replayed), 1, 6);
  CHECK(replayed.lost_records == 0);
}

TEST_CASE("journal: a damaged record is skipped, counted and reported") {
  ModelFiles files;
  written(files, 30, small(1 << 20));
  const std::string name = files.list(kJournalFolder)->front();
  Bytes& content = files.content(kJournalFolder / name);
  content[100] ^= std::byte{1};  // damages record 1 or 2
  Replayed replayed;
  const Replay found = everything(*Journal::open(files, kJournalFolder, small()), &replayed);
  CHECK(found.size() == 29);
  CHECK(found.back().second == numbered(30));
  CHECK(replayed.damaged == 1);
  CHECK(replayed.lost_records == 1);
  REQUIRE(replayed.trouble.size() == 1);
  CHECK(replayed.trouble[0].find(name) != std::string::npos);
  CHECK(replayed.trouble[0].find("offset ") != std::string::npos);
}

TEST_CASE("journal: no content of a batch is read as a record") {
  ModelFiles files;
  Journal journal = *Journal::open(files, kJournalFolder, small(1 << 20));
  RecordGroup inner;
  fill(inner, 900, 1);
  const auto fake = inner.sealed(0);  // records for another salt
  Bytes batch(8 - (kRecordHeadBytes + 3 + 6) % 8);
  batch.insert(batch.end(), fake.begin(), fake.end());
  RecordGroup group;
  group.add({Seq{1}, at_ms(0), "odd", "node-1", batch});
  fill(group, 2, 1);
  CHECK(journal.commit(group));
  files.content(kJournalFolder / files.list(kJournalFolder)->front())[10] ^= std::byte{1};
  const Replay found = everything(*Journal::open(files, kJournalFolder, small()));
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 2);
}

TEST_CASE("journal: a removed segment is counted as lost") {
  ModelFiles files;
  written(files, 100);
  const auto names = *files.list(kJournalFolder);
  REQUIRE(names.size() > 2);
  CHECK(files.remove(kJournalFolder / names[1]));
  Replayed replayed;
  const Replay found = everything(*Journal::open(files, kJournalFolder, small()), &replayed);
  CHECK(found.size() + replayed.lost_records == 100);
  CHECK(replayed.lost_records > 0);
}

TEST_CASE("journal: the ring is bounded by size and age, the floor keeps needed records") {
  ModelFiles files;
  JournalOptions options = small();
  options.ring_bytes = 10'000;
  options.ring_age = std::chrono::hours(1);
  Journal journal = written(files, 400, options);
  const std::uint64_t all = journal.bytes();
  journal.retain(Seq{0}, at_ms(0));
  CHECK(journal.bytes() == all);
  journal.retain(Seq{400}, at_ms(400'000));
  CHECK(journal.bytes() <= 10'000 + options.segment_bytes);
  CHECK(everything(journal).back().first == 400);
  journal.retain(Seq{400}, at_ms(10'000'000));
  CHECK(journal.segments()->size() <= 1);
}

TEST_CASE("journal: refuses beyond its size until a checkpoint frees some") {
  ModelFiles files;
  JournalOptions options = small();
  options.bytes_max = 20'000;
  options.ring_bytes = 0;
  Journal journal = *Journal::open(files, kJournalFolder, options);
  RecordGroup group;
  std::uint64_t number = 1;
  for (; number < 1000; number += 10) {
    group.clear();
    fill(group, number, 10);
    if (!journal.commit(group)) break;
  }
  CHECK(number < 1000);
  journal.retain(Seq{number - 1}, at_ms(0));
  CHECK(journal.commit(group));
  CHECK(journal.last() == group.last());
}

TEST_CASE("journal: questions about the past by job and time") {
  ModelFiles files;
  Journal journal = written(files, 100);
  std::vector<std::uint64_t> found;
  const PastQuery query{"even", Seq{19}, at_ms(31'000)};
  read_past(files, journal.segments(), query, [&](const Record& record) {
    found.push_back(record.seq.value());
    return true;
  });
  CHECK(found == std::vector<std::uint64_t>{20, 22, 24, 26, 28, 30});
  found.clear();
  read_past(files, journal.segments(), {"odd", {}, at_ms(1'000'000)}, [&](const Record& r) {
    found.push_back(r.seq.value());
    return found.size() < 3;
  });
  CHECK(found.size() == 3);
}

TEST_CASE("journal: missing records of the past are counted, with the time of the first gap") {
  ModelFiles files;
  const Journal journal = written(files, 100);
  const auto ask = [&](std::uint64_t after, std::int64_t to) {
    return read_past(files, journal.segments(), {"even", Seq{after}, at_ms(to)},
                     [](const Record&) { return true; });
  };
  CHECK(ask(0, 100'000).lost_records == 0);
  const SegmentList list = journal.segments();
  const std::vector<SegmentFile>& segments = *list;
  REQUIRE(segments.size() > 3);
  const std::uint64_t first = segments[1].first.value(), end = segments[1].end->value();
  CHECK(files.remove(segments[1].path));
  const auto whole = ask(0, static_cast<std::int64_t>(first - 1) * 1000);
  CHECK(whole.unread);  // records behind the gap may also be from before that time
  const auto gap = ask(0, static_cast<std::int64_t>(end) * 1000);
  CHECK(gap.lost_records == end - first);
  CHECK(gap.whole_to == at_ms(static_cast<std::int64_t>(first - 1) * 1000));
  REQUIRE(gap.trouble.size() == 1);
  CHECK(ask(end - 1, 100'000).lost_records == 0);
  CHECK_FALSE(ask(end - 1, 100'000).unread);
}

TEST_CASE("journal: a read of the past ends when the caller ends it") {
  ModelFiles files;
  const Journal journal = written(files, 100);
  int asked = 0, seen = 0;
  PastQuery query{"even", {}, at_ms(100'000)};
  query.goes_on = [&] { return ++asked <= 30; };
  read_past(files, journal.segments(), query, [&](const Record&) { return ++seen > 0; });
  CHECK(asked == 31);
  CHECK(seen == 15);
}

TEST_CASE("journal: a read-only folder can be read, and written when it is writable again") {
  ModelFiles files;
  written(files, 20);
  files.content(kJournalFolder / files.list(kJournalFolder)->back()).push_back(std::byte{9});
  files.fail_all();
  Journal again = *Journal::open(files, kJournalFolder, small());
  check_numbers(everything(again), 1, 20);
  RecordGroup group;
  fill(group, 21, 1);
  CHECK_FALSE(again.commit(group));
  CHECK_FALSE(again.probe());
  files.heal();
  CHECK(again.probe());
  CHECK(again.commit(group));
  check_numbers(everything(again), 1, 21);
}

TEST_CASE("journal: one failure, or all from one on, loses and duplicates nothing") {
  // Thirty groups; the call n (and a few after it) fails; then power is cut, too.
  for (const std::uint64_t count : {1U, 2U, 7U}) {
    for (std::uint64_t n = 1; n < 90; ++n) {
      ModelFiles files(n);
      JournalOptions options = small(700);
      auto journal = Journal::open(files, kJournalFolder, options);
      files.fail(n, count);
      RecordGroup group;
      for (std::uint64_t number = 1; number <= 60; number += 2) {
        group.clear();
        fill(group, number, 2);
        int tries = 0;
        while (!journal->commit(group)) REQUIRE(++tries < 20);
      }
      INFO("call ", n, " count ", count);
      check_numbers(everything(*journal), 1, 60);
      files.power_cut();
      Replayed replayed;
      check_numbers(everything(*Journal::open(files, kJournalFolder, options), &replayed), 1, 60);
      CHECK(replayed.lost_records == 0);
    }
  }
}

TEST_CASE("journal: random lives with failures, kills and power cuts") {
  for (std::uint64_t seed = 1; seed <= lives(150); ++seed) {
    INFO("seed ", seed);
    ModelFiles files(seed);
    std::mt19937_64 random(seed);
    std::map<std::uint64_t, std::string> durable;
    for (std::uint64_t life = 1; life < 8; ++life) {
      JournalOptions options = small(600 + random() % 2000);
      options.seed = seed * 100 + life;
      if (random() % 4 == 0) files.fail(random() % 5, 1 + random() % 3);
      auto journal = Journal::open(files, kJournalFolder, options);
      REQUIRE(journal);
      const Replay found = everything(*journal);
      REQUIRE(found.size() >= durable.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i].first == i + 1);
        if (const auto known = durable.find(i + 1); known != durable.end())
          REQUIRE(found[i].second == known->second);
      }
      if (random() % 2 == 0) files.fail(random() % 8, 1 + random() % 3);
      const bool settled = journal->probe().has_value();
      files.heal();
      if (!settled && random() % 2 == 0) {  // killed before its records were durable for sure
        if (random() % 2 == 0) files.power_cut();
        continue;
      }
      if (!settled) REQUIRE(journal->probe());
      for (const auto& [number, text] : found) durable[number] = text;  // agents get the ack now
      std::uint64_t next = found.size() + 1;
      REQUIRE(journal->last().value() == next - 1);
      RecordGroup group;
      for (std::uint64_t groups = random() % 12; groups > 0; --groups) {
        if (random() % 3 == 0) files.fail(random() % 6, 1 + random() % 4);
        group.clear();
        const std::uint64_t count = 1 + random() % 4;
        fill(group, next, count, life);
        bool done = false;
        for (std::uint64_t tries = random() % 3 + 1; tries > 0 && !done; --tries)
          done = journal->commit(group).has_value();
        if (!done) break;  // killed while an unacknowledged group is written
        for (std::uint64_t i = 0; i < count; ++i) durable[next + i] = numbered(next + i, life);
        next += count;
      }
      files.heal();
      if (random() % 2 == 0) files.power_cut();
    }
  }
}
