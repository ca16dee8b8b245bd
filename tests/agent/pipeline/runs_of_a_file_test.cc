// Files that hold several runs of a program, and files that only look like it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/pipeline/job_pipeline.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::pipeline {
namespace {

struct RunCount : Output {
  void batch(wire::Batch&& batch) override {
    for (const wire::SourceDefinition& source : batch.sources)
      runs = std::max(runs, source.run + 1);
  }
  std::uint32_t runs = 0;
};

/// Reads the text as one file; live in pieces of 100 bytes.
void read(std::string_view text, bool live, Output& out) {
  Options options;
  options.live = live;
  JobPipeline pipeline("job", segment::test::packs(), options, out);
  discover::LogFile file;
  file.name = file.node = "train";
  const LogNumber log = pipeline.open(file, {});
  FilePosition part;
  part.path = "/logs/train";
  part.file.key = 7;
  pipeline.begin_part(log, part);
  const std::size_t step = live ? 100 : text.size();
  for (std::size_t at = 0; at < text.size(); at += step) {
    pipeline.feed(log, text.substr(at, step));
    if (live) pipeline.flush(Millis{0});
  }
  pipeline.end(log);
  pipeline.flush(Millis{0}, true);
}

/// Number of runs; live, too.
std::uint32_t runs_in(std::string_view text) {
  std::array<std::uint32_t, 2> counts{};
  for (const bool live : {false, true}) {
    RunCount out;
    read(text, live, out);
    counts[live] = out.runs;
  }
  CHECK(counts[0] == counts[1]);
  return counts[0];
}

/// The run and the rank by which lines were counted: the first of each event in a segment.
struct RunLines : Output {
  void batch(wire::Batch&& batch) override {
    for (const wire::SourceDefinition& source : batch.sources) sources[source.id] = source;
    for (const wire::Segment& segment : batch.segments) {
      const wire::SourceDefinition& source = sources.at(segment.source);
      for (const wire::EventCount& event : segment.events)
        run_of.insert_or_assign(event.first_line, std::pair(source.run, source.rank));
    }
  }
  std::map<SourceId, wire::SourceDefinition> sources;
  std::map<std::uint64_t, std::pair<std::uint32_t, std::optional<Rank>>> run_of;
};

/// A program in one wording: its start, and what it prints of an iteration.
struct Program {
  std::vector<std::string> opening;
  std::string iteration;

  std::string start() const { return fmt::format("{}\n", fmt::join(opening, "\n")); }
  std::string train(int from, int to) const {
    std::string text;
    for (int i = from; i <= to; ++i)
      text +=
          fmt::format(fmt::runtime(iteration), fmt::arg("i", i), fmt::arg("loss", 9.0 / i)) + "\n";
    return text;
  }
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {{"Options(depth=12, width=768, out='runs/a')", "Reading corpus from /data/corpus.bin",
        "Vocabulary: 50304 pieces", "Model has 124.4 M weights", "Optimiser ready, 2 groups"},
       "update {i} of 400: loss {loss:.4f}, 0.31 s"},
      {{"== experiment falcon-7 ==", "devices found: 8", "schedule: cosine, 200 warm",
        "train shards 12, valid shards 2", "compiling graph", "graph compiled"},
       "[step {i}/400] nll={loss:.4f} grad=1.02 ips=812.4"},
      {{"Config file: conf/base.yaml", "seed_everything(1234)", "tokenizer: unigram 32k",
        "network: 24 blocks, 16 heads", "resume: no snapshot found"},
       "global_step: {i}  train_loss: {loss:.4f}  lr: 0.0003"}};
  return all;
}

constexpr std::string_view kTracebacks[] = {
    "Traceback (most recent call last):\n  File \"fit.py\", line 31, in <module>\n    fit()\n"
    "KeyError: 'labels'\n",
    "Traceback (most recent call last):\n  File \"run.py\", line 4, in <module>\n    main()\n"
    "  File \"run.py\", line 2, in main\n    net(x)\nRuntimeError: shapes do not agree\n",
    "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    step()\n"
    "KeyboardInterrupt\n"};

TEST_CASE("kind: a start-up that comes again behind a traceback is a new run") {
  for (const Program& program : programs())
    for (const std::string_view traceback : kTracebacks) {
      CAPTURE(program.iteration);
      const std::string first = program.start() + program.train(1, 60) + std::string(traceback);
      CHECK(runs_in(first + program.start() + program.train(1, 90)) == 2);
      CHECK(runs_in(first + program.start() + std::string(traceback)) == 2);
    }
}

TEST_CASE("kind: a start-up and a counter that begins again are a new run, without any word") {
  for (const Program& program : programs()) {
    CAPTURE(program.iteration);
    const std::string one = program.start() + program.train(1, 40);
    CHECK(runs_in(one + one) == 2);
    CHECK(runs_in(one + one + one) == 3);
  }
}

TEST_CASE("kind: what each epoch prints again is no new run while the counter goes on") {
  for (const Program& program : programs()) {
    CAPTURE(program.iteration);
    std::string text;
    for (int epoch = 0; epoch < 5; ++epoch)
      text += program.start() + program.train(1 + 60 * epoch, 60 + 60 * epoch);
    CHECK(runs_in(text) == 1);
  }
}

TEST_CASE("kind: processes of one start that repeat each other are one run") {
  for (const Program& program : programs()) {
    CAPTURE(program.iteration);
    std::string text;
    for (int process = 0; process < 8; ++process) text += program.start();
    CHECK(runs_in(text + program.train(1, 100)) == 1);
    for (const std::string_view traceback : kTracebacks) {
      std::string failed;
      for (int process = 0; process < 8; ++process)
        failed += program.start() + std::string(traceback);
      CHECK(runs_in(failed) == 1);
    }
  }
}

TEST_CASE("kind: the last words of a rank, which the next run follows, belong to their own run") {
  const std::vector<std::string> words = {
      "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"fit.py\", line 31, in fit\n"
      "[rank3]:     net(x)\n[rank3]: RuntimeError: shapes do not agree\n",
      "[rank3]:[W325 22:00:17.135203704 Net.cpp:1524] Warning: the group was not closed\n",
      "[rank3]: ERROR: lost the connection to the store\n"};
  for (const Program& program : programs())
    for (const std::string& last : words)
      for (const bool live : {false, true}) {
        CAPTURE(program.iteration);
        CAPTURE(last);
        CAPTURE(live);
        const std::string before = program.start() + program.train(1, 60);
        const auto at = static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1;
        const std::string other = "[rank1]: KeyError: 'labels'\n[rank1]: left\n";
        RunLines out;
        read(before + last + other + std::string(kTracebacks[0]) + program.start() +
                 program.train(1, 90),
             live, out);
        REQUIRE(out.run_of.contains(at));
        CHECK(out.run_of.at(at) == std::pair(0U, std::optional(Rank{3})));
        CHECK(out.run_of.rbegin()->second.first == 1);
      }
}

TEST_CASE("kind: a program that refuses its arguments has only begun") {
  const std::vector<std::string> refusals = {
      "usage: fit.py [-h] --out OUT\nfit.py: error: the following arguments are required: --out\n",
      "usage: run.py [-h] [--lr LR]\n              [--depth DEPTH]\n"
      "run.py: error: unrecognized arguments: --dpeth 4\n",
      "Usage: train [OPTIONS]\nTry 'train --help' for help.\n\nError: No such option: --widht\n",
      "usage: tool [--mode {a,b}]\ntool: error: argument --mode: invalid choice: 'c'\n"};
  for (const Program& program : programs())
    for (const std::string& refusal : refusals) {
      CAPTURE(program.iteration);
      CAPTURE(refusal);
      CHECK(runs_in(program.start() + program.train(1, 60) + refusal + refusal) == 2);
      CHECK(runs_in(program.start() + "Test accuracy: 89.86  Loss: 0.3443\n" + refusal) == 2);
      CHECK(runs_in(program.start() + refusal + program.start() + refusal) == 1);
      CHECK(runs_in(refusal + refusal + program.start() + program.train(1, 60)) == 1);
    }
}

TEST_CASE("kind: a log that begins in mid-training has no start-up to come again") {
  for (const Program& program : programs()) {
    CAPTURE(program.iteration);
    std::string text;
    for (int epoch = 2; epoch < 7; ++epoch)
      text += fmt::format("valid a {0}\nvalid b {0}\nvalid c {0}\nkept snapshot {0}\n", epoch) +
              program.train(1 + 60 * epoch, 60 + 60 * epoch);
    CHECK(runs_in(text) == 1);
  }
}

TEST_CASE("kind: an inner counter that begins again short of its total is no new run") {
  for (const char* form : {"[{}, {:5}/ 1000] loss 0.5", "{} | {}/1000 | cost 0.5 | 0.2 s",
                           "pass {} batch {}/1000 loss: 0.5"}) {
    CAPTURE(form);
    std::string text;
    for (int epoch = 1; epoch <= 6; ++epoch)
      for (int i = 30; i < 1000; i += 30) text += fmt::format(fmt::runtime(form), epoch, i) + "\n";
    CHECK(runs_in(text) == 1);
  }
}

TEST_CASE("kind: an epoch that falls back to the first is a new run, however short the first was") {
  for (const char* form :
       {"Epoch [{}/20] Iter [{}/500] loss 0.5", "epoch: {}, step: {}/500, loss: 0.5",
        "Train Epoch: {} [{}/500] Loss 0.5"}) {
    CAPTURE(form);
    std::string text;
    for (int run = 0; run < 2; ++run)
      for (int epoch = 1; epoch <= 3; ++epoch)
        for (int i = 100; i <= 500; i += 100)
          text += fmt::format(fmt::runtime(form), epoch, i) + "\n";
    CHECK(runs_in(text) == 2);
  }
}

}  // namespace
}  // namespace l4::pipeline
