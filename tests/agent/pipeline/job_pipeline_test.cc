// Live, a batch covers exactly the bytes of its lines, in whatever pieces the bytes came and
// whatever was lost; and the output does not depend on the pieces.
#include "agent/pipeline/job_pipeline.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "agent/pipeline/redaction.h"
#include "common/wire/codec/batch_codec.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::pipeline {
namespace {

using segment::test::packs;

struct Collected : Output {
  void batch(wire::Batch&& batch) override { batches.push_back(std::move(batch)); }
  std::vector<wire::Batch> batches;
};

Options live(Millis hold = Millis{300}) {
  Options options;
  options.live = true;
  options.hold = hold;
  return options;
}

discover::LogFile log_file(wire::SourceKind kind = wire::SourceKind::rank) {
  discover::LogFile file;
  file.name = "node-1/rank0.log";
  file.node = "node-1";
  file.node_known = true;
  file.kind = kind;
  if (kind == wire::SourceKind::rank) file.rank = Rank{0};
  return file;
}

FilePosition part_of(std::uint64_t key, std::uint64_t offset = 0, std::uint64_t lines = 0) {
  FilePosition part;
  part.path = "/logs/node-1/rank0.log";
  part.file.key = key;
  part.offset = offset;
  part.lines = lines;
  return part;
}

std::uint64_t events_in(const wire::Batch& batch) {
  std::uint64_t sum = 0;
  for (const wire::Segment& segment : batch.segments)
    for (const wire::EventCount& event : segment.events) sum += event.count;
  return sum;
}

constexpr auto kText =
    "2026-11-20 10:00:00,001 INFO setting up\n"
    "2026-11-20 10:00:01,001 INFO iteration 1 | loss: 2.5 | lr: 1.0E-4\n"
    "2026-11-20 10:00:01,301 WARNING slow storage at /data/x\n"
    "  retried 3 times\n"
    "2026-11-20 10:00:02,001 INFO iteration 2 | loss: 2.4 | lr: 1.0E-4\n"
    "Traceback (most recent call last):\n"
    "  File \"train.py\", line 10, in main\n"
    "    step()\n"
    "RuntimeError: CUDA error: out of memory\n"
    "\n"
    " 10%|#         | 1/10 [00:01<00:09]\r 20%|##        | 2/10 [00:02<00:08]\n"
    "2026-11-20 10:00:03,001 INFO good bye\n";

std::vector<wire::Bytes> shipped(const std::vector<std::size_t>& cuts) {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  std::string_view rest = kText;
  for (const std::size_t cut : cuts) {
    const std::size_t n = std::min(cut, rest.size());
    pipeline.feed(log, rest.substr(0, n));
    rest.remove_prefix(n);
  }
  pipeline.feed(log, rest);
  pipeline.flush(Millis{0}, true);
  std::vector<wire::Bytes> encoded;
  for (const wire::Batch& batch : out.batches) encoded.push_back(wire::encode(batch));
  return encoded;
}

TEST_CASE("job pipeline: batches do not depend on how bytes are cut") {
  const auto whole = shipped({});
  REQUIRE(whole.size() == 1);
  CHECK(shipped(std::vector<std::size_t>(2000, 1)) == whole);
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::size_t> cuts;
    for (int k = 0; k < 60; ++k) cuts.push_back(random() % 40);
    CHECK(shipped(cuts) == whole);
  }
}

TEST_CASE("job pipeline: an unfinished line and an open traceback are not covered yet") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  const std::string first = "INFO one\n", open = "Traceback (most recent call last):\n  File \"a";
  pipeline.feed(log, first + open);
  pipeline.flush(Millis{0});
  REQUIRE(out.batches.size() == 1);
  REQUIRE(out.batches[0].coverage.size() == 1);
  CHECK(out.batches[0].coverage[0].bytes == wire::ByteRange{0, first.size()});
  CHECK(out.batches[0].coverage[0].lines == 1);
  CHECK(out.batches[0].job == "job");
  CHECK(pipeline.dirty());
  const std::string rest = ".py\", line 1, in f\n    g()\nValueError: x\nINFO two\n";
  pipeline.feed(log, rest);
  pipeline.flush(Millis{100});
  REQUIRE(out.batches.size() == 2);
  CHECK(out.batches[1].coverage[0].bytes ==
        wire::ByteRange{first.size(), first.size() + open.size() + rest.size()});
  CHECK(out.batches[1].coverage[0].lines == 5);
  CHECK(events_in(out.batches[1]) == 2);  // the traceback is one event
  CHECK_FALSE(pipeline.dirty());
}

TEST_CASE("job pipeline: a record waits, and is dated, from when its bytes came") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  const TimeMs wall{std::chrono::hours{480'000}};
  pipeline.begin_part(log, part_of(7));
  CHECK_FALSE(pipeline.due());
  pipeline.set_arrival({Millis{1'000}, wall});
  pipeline.feed(log, "ERROR out of order\n");
  pipeline.set_arrival({Millis{1'200}, wall + Millis{200}});
  pipeline.flush(Millis{1'200});
  CHECK(out.batches.empty());
  CHECK(pipeline.due() == Millis{1'300});
  pipeline.set_arrival({Millis{1'299}, wall + Millis{299}});
  pipeline.flush(Millis{1'299});
  CHECK(out.batches.empty());
  pipeline.set_arrival({Millis{1'300}, wall + Millis{300}});
  pipeline.flush(Millis{1'300});
  CHECK_FALSE(pipeline.due());
  REQUIRE(out.batches.size() == 1);
  REQUIRE(out.batches[0].segments.size() == 1);
  CHECK(out.batches[0].segments[0].arrival_begin == wall);
  CHECK(out.batches[0].segments[0].arrival_end == wall);
}

TEST_CASE("job pipeline: a flush before the next one is due only where nothing came since") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  pipeline.set_arrival({Millis{1'000}, {}});
  pipeline.feed(log, "ERROR one\n");
  pipeline.flush(Millis{1'000});
  CHECK(pipeline.due() == Millis{1'300});
  pipeline.set_arrival({Millis{1'100}, {}});
  pipeline.feed(log, "ERROR two\n");
  CHECK_FALSE(pipeline.due());
  pipeline.flush(Millis{1'200});
  CHECK(pipeline.due() == Millis{1'400});
}

TEST_CASE("job pipeline: coverage has the file's latest identity") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  FilePosition part = part_of(7);
  part.file.fingerprint_bytes = 40;
  pipeline.begin_part(log, part);
  pipeline.feed(log, "2026-11-20 10:00:00 INFO setting up\n");
  wire::FileId grown = part.file;
  grown.fingerprint_bytes = 4096;
  grown.inode = 12;  // the file was copied since
  pipeline.set_known(log, grown, 5000);
  pipeline.feed(log, "2026-11-20 10:00:01 INFO going on\n");
  pipeline.missing(log, part_of(7, 70), 90, "truncated");  // missing bytes of the same text
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 1);
  REQUIRE(out.batches[0].coverage.size() == 1);
  CHECK(out.batches[0].coverage[0].bytes.to == 90);
  CHECK(out.batches[0].coverage[0].file.fingerprint_bytes == 0);  // the coverage of part_of(7, 70)
  pipeline.begin_part(log, part_of(8));
  pipeline.set_known(log, grown, 6000);
  pipeline.feed(log, "2026-11-20 10:00:02 INFO another file\n");
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 2);
  CHECK(out.batches[1].coverage.back().file == part_of(8).file);
}

TEST_CASE("job pipeline: a record that waits is shipped after a while") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(Millis{300}), out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  pipeline.feed(log, "ERROR the last words\nand half a li");
  pipeline.flush(Millis{0});
  CHECK(out.batches.size() <= 1);  // at most a batch with the source's definition
  pipeline.flush(Millis{300});
  REQUIRE_FALSE(out.batches.empty());
  CHECK(events_in(out.batches.back()) >= 1);
  CHECK(out.batches.back().coverage.back().bytes.to >= 21);
  pipeline.quiet(log);
  pipeline.flush(Millis{600});
  CHECK(out.batches.back().coverage.back().bytes.to == 34);
  CHECK_FALSE(pipeline.dirty());
}

TEST_CASE("job pipeline: a kernel's records are covered by their numbers") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(wire::SourceKind::kernel), {});
  pipeline.record(log, part_of(9), 100, "");  // older records, without text
  for (std::uint64_t i = 100; i < 105; ++i)
    pipeline.record(log, part_of(9, i), i + 1,
                    i == 102 ? "kern  :err   : NVRM: Xid (PCI:0000:65:00): 79, gone\n" : "");
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 1);
  REQUIRE(out.batches[0].coverage.size() == 1);
  CHECK(out.batches[0].coverage[0].bytes == wire::ByteRange{0, 105});
  CHECK(events_in(out.batches[0]) == 1);
}

TEST_CASE("job pipeline: a kernel record gets its attribution, also between others") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(wire::SourceKind::kernel), {});
  const std::string oom =
      "kern  :err   : 2026-11-20T10:00:00,000000+00:00 Out of memory: Killed process 4711\n";
  pipeline.record(log, part_of(9), 1, oom);
  pipeline.record(log, part_of(9, 1), 2, oom, Attribution{"node-1", Rank{3}, 0});
  pipeline.record(log, part_of(9, 2), 3, oom);
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 1);
  REQUIRE(out.batches[0].sources.size() == 2);
  std::map<std::uint32_t, std::uint32_t> lines;
  for (const wire::Segment& segment : out.batches[0].segments)
    for (const wire::EventCount& event : segment.events)
      lines[segment.source.value()] += event.count;
  const SourceId host = out.batches[0].sources[0].id, rank = out.batches[0].sources[1].id;
  CHECK_FALSE(out.batches[0].sources[0].rank);
  CHECK(out.batches[0].sources[1].rank == Rank{3});
  CHECK(lines[host.value()] == 2);
  CHECK(lines[rank.value()] == 1);
  CHECK(out.batches[0].coverage[0].bytes == wire::ByteRange{0, 3});
}

TEST_CASE("job pipeline: used templates are defined, also after a restart") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  pipeline.feed(log, "INFO apples are red\nINFO pears are green\n");
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 1);
  CHECK(out.batches[0].templates.size() == 2);
  CHECK(out.batches[0].sources.size() == 1);
  const LocalTemplateId apples = out.batches[0].templates[0].id;

  pipeline.feed(log, "INFO apples are red\n");
  pipeline.flush(Millis{0}, true);
  CHECK(out.batches[1].templates.empty());
  CHECK(out.batches[1].sources.empty());

  pipeline.restart();
  CHECK_FALSE(pipeline.dirty());
  pipeline.begin_part(log, part_of(7, 41, 2));
  pipeline.feed(log, "INFO apples are red\n");
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 3);
  REQUIRE(out.batches[2].templates.size() == 1);
  CHECK(out.batches[2].templates[0].id == apples);
  REQUIRE(out.batches[2].sources.size() == 1);
  CHECK(out.batches[2].sources[0].id == out.batches[0].sources[0].id);
  CHECK(out.batches[2].coverage[0].bytes == wire::ByteRange{41, 61});
  CHECK(out.batches[2].segments[0].lines == wire::LineRange{3, 3});
}

TEST_CASE("job pipeline: a template is defined even if the miner forgets it first") {
  Collected out;
  Options options = live();
  options.drain.templates_max = 64;
  JobPipeline pipeline("job", packs(), options, out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  std::mt19937 random(3);
  std::string text;
  for (int line = 0; line < 1'000; ++line) {
    text += "INFO";
    for (std::uint32_t words = 2 + random() % 6; words > 0; --words) {
      text += ' ';
      for (int i = 0; i < 5; ++i) text += static_cast<char>('a' + random() % 26);
    }
    text += '\n';
  }
  pipeline.feed(log, text);
  pipeline.flush(Millis{0}, true);
  std::set<LocalTemplateId> defined;
  std::uint64_t events = 0, forgotten = 0, undefined = 0;
  for (const wire::Batch& batch : out.batches) {
    for (const wire::TemplateDefinition& definition : batch.templates) {
      defined.insert(definition.id);
      CHECK_FALSE(definition.text.empty());
    }
    for (const wire::Segment& segment : batch.segments)
      for (const wire::EventCount& event : segment.events) undefined += !defined.contains(event.id);
    events += events_in(batch);
    forgotten += batch.forgotten.size();
  }
  CHECK(events == 1'000);
  CHECK(forgotten > 100);
  CHECK(undefined == 0);
}

TEST_CASE("job pipeline: the writer of a log may become known later") {
  Collected out;
  JobPipeline pipeline("job", packs(), live(), out);
  discover::LogFile file = log_file();
  file.rank.reset();
  const LogNumber log = pipeline.open(file, {});
  pipeline.begin_part(log, part_of(7));
  pipeline.feed(log, "INFO one\n");
  pipeline.flush(Millis{0}, true);
  CHECK_FALSE(out.batches[0].sources.at(0).rank);
  file.rank = Rank{3};
  pipeline.describe(log, file);
  pipeline.flush(Millis{0}, true);
  REQUIRE(out.batches.size() == 2);
  CHECK(out.batches[1].sources.at(0).rank == Rank{3});
  CHECK(out.batches[1].sources.at(0).id == out.batches[0].sources.at(0).id);
}

TEST_CASE("job pipeline: redacted text is neither in templates nor in parameters") {
  std::size_t where = 0;
  const auto redaction = Redaction::make({"customer-[a-z]+"}, where);
  REQUIRE(redaction);
  CHECK_FALSE(Redaction::make({"ok", "("}, where));
  CHECK(where == 1);
  Collected out;
  Options options = live();
  options.redaction = redaction->get();
  JobPipeline pipeline("job", packs(), options, out);
  const LogNumber log = pipeline.open(log_file(), {});
  pipeline.begin_part(log, part_of(7));
  pipeline.feed(log, "ERROR cannot open /data/customer-acme/part-1 of customer-acme\n");
  pipeline.flush(Millis{0}, true);
  const wire::Bytes bytes = wire::encode(out.batches.at(0));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(text.find("acme") == text.npos);
  CHECK(text.find("[redacted]") != text.npos);
}

/// Checks coverage by the receiver's rule (docs/WIRE.md).
struct Ledger {
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> files;  // offset, lines
  std::uint64_t events = 0;

  void apply(const wire::Batch& batch) {
    for (const wire::Coverage& part : batch.coverage) {
      auto& [offset, lines] = files[part.file.key];
      CHECK(part.bytes.from == offset);
      offset = part.bytes.to;
      lines += part.lines;
    }
    events += events_in(batch);
  }
};

struct File {
  std::uint64_t key = 0;
  std::string text;
  std::uint64_t lines = 0;
};

std::vector<File> random_log(std::mt19937& random) {
  static constexpr const char* kLines[] = {"INFO all is well with it\n",
                                           "WARNING slow link\n",
                                           "[rank1]: ERROR no\n",
                                           "[rank2]: WARNING late\n",
                                           "2026-11-20 10:00:00 INFO iteration 12\n",
                                           "[rank1]: INFO going on\n",
                                           "3: INFO a labelled line\n",
                                           "ERROR bad thing happened\n",
                                           "[rank2]: one more word of it\n",
                                           "[rank3]: ERROR gone\n"};
  std::vector<File> files(1 + random() % 3);
  for (File& file : files) {
    file.key = 10 + static_cast<std::uint64_t>(&file - files.data());
    for (auto left = random() % 120; left > 0; --left, ++file.lines)
      file.text += kLines[random() % std::size(kLines)];
  }
  return files;
}

/// Feeds files with cuts, pauses and crashes; everything is counted once in the end.
void play(std::uint32_t seed) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<File> files = random_log(random);
  Ledger ledger;
  Collected out;
  Millis steady{0};
  Options options = live();
  options.segments_per_batch = 20;
  auto pipeline = std::make_unique<JobPipeline>("job", packs(), options, out);
  const auto kind = random() % 2 == 0 ? wire::SourceKind::rank : wire::SourceKind::merged;
  LogNumber log = pipeline->open(log_file(kind), {});
  std::size_t file = 0, at = 0;
  bool placed = false;
  const auto feed = [&](std::size_t most) {
    if (!placed) {
      const auto& [offset, lines] = ledger.files[files[file].key];
      const bool committed = offset == at;
      FilePosition part = part_of(files[file].key, at, lines);
      if (!committed) part.lines.reset();
      pipeline->begin_part(log, part);
      placed = true;
    }
    const std::size_t n = std::min(most, files[file].text.size() - at);
    pipeline->feed(log, std::string_view(files[file].text).substr(at, n));
    at += n;
    if (pipeline->full()) pipeline->flush(steady);
    if (at == files[file].text.size() && file + 1 < files.size()) {
      ++file;
      at = 0;
      placed = false;
    }
  };
  const auto to_line_end = [&] {
    const std::string& text = files[file].text;
    if (at > 0 && at < text.size() && text[at - 1] != '\n') feed(text.find('\n', at) + 1 - at);
  };
  const auto crash = [&] {
    for (std::size_t keep = random() % (out.batches.size() + 1), i = 0; i < keep; ++i)
      ledger.apply(out.batches[i]);
    out.batches.clear();
    if (random() % 2 == 0) {
      pipeline->restart();
    } else {
      pipeline = std::make_unique<JobPipeline>("job", packs(), options, out);
      log = pipeline->open(log_file(kind), {});
    }
    placed = false;
    for (file = 0; file + 1 < files.size(); ++file)
      if (ledger.files[files[file].key].first < files[file].text.size()) break;
    at = ledger.files[files[file].key].first;
  };
  for (int step = 0; step < 200; ++step) {
    const auto what = random() % 20;
    if (what < 12) feed(random() % 90);
    if (what >= 12 && what < 16) pipeline->flush(steady);
    if (what >= 16 && what < 19) {
      to_line_end();
      steady += Millis{random() % 400};
      pipeline->flush(steady);
    }
    if (what == 19 && random() % 3 == 0) crash();
  }
  while (file + 1 < files.size() || at < files[file].text.size()) feed(1000);
  if (random() % 2 == 0) pipeline->end(log);
  pipeline->flush(steady, true);
  for (const wire::Batch& batch : out.batches) ledger.apply(batch);
  std::uint64_t lines = 0;
  for (const File& each : files) {
    lines += each.lines;
    CHECK(ledger.files[each.key].first == each.text.size());
    CHECK(ledger.files[each.key].second == each.lines);
  }
  CHECK(ledger.events == lines);
}

TEST_CASE("job pipeline: over cuts, pauses and crashes every line is counted once") {
  const char* one = std::getenv("L4_PIPELINE_SEED");
  if (one != nullptr) return play(static_cast<std::uint32_t>(std::atoi(one)));
  for (std::uint32_t seed = 1; seed <= 400; ++seed) play(seed);
}

}  // namespace
}  // namespace l4::pipeline
