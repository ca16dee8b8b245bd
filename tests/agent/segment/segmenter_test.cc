// The segmenter cuts at the right records, and loses none.
#include "agent/segment/segmenter.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/drain/template_miner.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::segment {
namespace {

using segment::test::packs;

constexpr auto kCompleted = wire::Boundary::completed;
constexpr std::uint16_t kLearnedTimer = 5000;

/// Feeds lines to a segmenter as an agent does.
class Feed {
 public:
  Feed()
      : segmenter_(SourceId{3},
                   [this](wire::Segment&& s, auto) { segments.push_back(std::move(s)); }) {}

  LocalTemplateId line(const std::string& text, std::optional<std::int64_t> ms = std::nullopt,
                       Level level = Level::info) {
    return add({}, text, ms, level);
  }
  /// A text behind a bar, as the decoder gives it.
  void behind(std::string_view bar, std::int64_t done, std::int64_t total, const std::string& text,
              std::int64_t ms, std::int64_t drawn = 0) {
    decode::Record record;
    record.drawn = Millis{drawn};
    record.bar = bar;
    record.progress = done;
    if (total > 0) record.progress_total = total;
    add(record, text, ms, Level::unknown);
  }
  /// A bar alone on its line.
  void drawn(const std::string& bar, std::int64_t done, std::int64_t total) {
    decode::Record record;
    record.progress = done;
    record.progress_total = total;
    add(record, bar, std::nullopt, Level::unknown);
  }
  void finish() { segmenter_.finish(); }
  Segmenter& segmenter() { return segmenter_; }
  std::uint64_t lines() const { return line_; }
  std::uint64_t bytes() const { return bytes_; }
  std::optional<LocalTemplateId> marker() const { return segmenter_.marker(); }

  std::vector<wire::Segment> segments;

 private:
  LocalTemplateId add(decode::Record record, const std::string& text,
                      std::optional<std::int64_t> ms, Level level) {
    const LocalTemplateId id = miner_.learn(text).id;
    if (id.value() >= traits_.size()) traits_.resize(id.value() + 1);
    TemplateTraits& traits = traits_[id.value()];
    if (traits.seen++ == 0) {
      traits.role = packs().classify(text);
      if (traits.role.timers.empty()) traits.durations = find_durations(text);
      for (Duration& duration : traits.durations)
        duration.id = static_cast<std::uint16_t>(kLearnedTimer + duration.name.size());
      const auto all = packs().timers();
      for (const Timer* timer : traits.role.timers)
        traits.timer_ids.push_back(
            static_cast<std::uint16_t>(std::ranges::find(all, timer) - all.begin()));
    }
    traits.level = std::max(traits.level, level);
    ++line_;
    record.text = text;
    record.level = level;
    if (ms) record.time = TimeMs{Millis{*ms}};
    record.lines = {&line_, 1};
    record.bytes = {bytes_, bytes_ + text.size() + 1};
    bytes_ = record.bytes.to;
    segmenter_.add(record, id, traits);
    return id;
  }

  drain::TemplateMiner miner_;
  std::vector<TemplateTraits> traits_;
  std::uint64_t line_ = 0, bytes_ = 0;
  Segmenter segmenter_;
};

std::string step(int k, double forward = 44.5) {
  return fmt::format("step={} data_ms=0.2 fwd_ms={} bwd_ms=130.1 allreduce_ms=13.9 opt_ms=1.5", k,
                     forward);
}

TEST_CASE("a line that completes an iteration ends its segment") {
  Feed feed;
  feed.line("start training from iteration 0", 0);
  for (int k = 1; k <= 3; ++k) {
    feed.line("batch of 4 samples ready", k * 1000);
    feed.line(step(k), k * 1000 + 900);
  }
  feed.finish();
  std::vector<wire::Segment> done;
  for (const wire::Segment& segment : feed.segments)
    if (segment.boundary == kCompleted) done.push_back(segment);
  REQUIRE(done.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto k = static_cast<std::int64_t>(i) + 1;
    CHECK(done[i].source == SourceId{3});
    CHECK(done[i].iteration == Iteration{k});
    CHECK_FALSE(done[i].counted);
    CHECK(name(done[i].stage) == "training");
    CHECK(done[i].end == TimeMs{Millis{k * 1000 + 900}});
  }
  CHECK(done[1].events.size() == 2);
  CHECK(done[1].lines == wire::LineRange{4, 5});
  CHECK(feed.marker().has_value());
}

TEST_CASE("a line that starts an iteration begins its segment") {
  Feed feed;
  for (int k = 1; k <= 3; ++k) {
    feed.line(fmt::format("iteration {}: batch of 4 samples ready, starting forward-backward", k),
              k * 1000);
    feed.line("forward done", k * 1000 + 400);
    feed.line("backward done", k * 1000 + 800);
  }
  feed.finish();
  REQUIRE(feed.segments.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(feed.segments[i].iteration == Iteration{static_cast<std::int64_t>(i) + 1});
    CHECK(feed.segments[i].lines == wire::LineRange{3 * i + 1, 3 * i + 3});
    CHECK(feed.segments[i].events.size() == 3);
  }
}

TEST_CASE("stages cut segments and end where their last line says") {
  Feed feed;
  feed.line("initializing torch distributed, backend gloo, master node-0:5", 0);
  feed.line("building GPT model ...", 100);
  feed.line("number of parameters 42880", 200);
  feed.line("start training from iteration 0", 300);
  feed.line(step(1), 1000);
  feed.line("> saving checkpoint at iteration 1 to /mnt/ckpt ...", 1100);
  feed.line("  successfully saved checkpoint at iteration      1 to /mnt/ckpt", 1500);
  feed.line("batch of 4 samples ready", 1600);
  feed.line(step(2), 2000);
  feed.finish();
  std::string stages;
  for (const wire::Segment& segment : feed.segments)
    if (!stages.ends_with(name(segment.stage))) stages += ' ' + std::string(name(segment.stage));
  CHECK(stages == " init model_build training checkpoint_save training");
}

TEST_CASE("a stage that has ended is not the last stage, even if no line follows") {
  Feed feed;
  feed.line(step(1), 1000);
  feed.line("> saving checkpoint at iteration 1 to /mnt/ckpt ...", 1100);
  feed.segmenter().cut();
  REQUIRE(feed.segments.size() == 2);
  CHECK(feed.segments[1].stage == Stage::checkpoint_save);
  CHECK(feed.segments[1].stage_after == Stage::unknown);
  feed.line("  successfully saved checkpoint at iteration      1 to /mnt/ckpt", 1500);
  REQUIRE(feed.segments.size() == 3);
  CHECK(feed.segments[2].stage == Stage::checkpoint_save);
  CHECK(feed.segments[2].stage_after == Stage::training);
}

TEST_CASE("timers are added up per segment") {
  Feed feed;
  feed.line(step(1, 40), 0);
  feed.line(step(2, 60), 1000);
  feed.finish();
  const auto names = packs().timers();
  REQUIRE(feed.segments.size() == 2);
  const auto forward = [&](const wire::Segment& segment) {
    double sum = -1;
    for (const wire::TimerTotal& timer : segment.timers)
      if (names[timer.timer]->name == "fwd_ms") sum = timer.sum_ms;
    return sum;
  };
  CHECK(forward(feed.segments[0]) == doctest::Approx(40));
  CHECK(forward(feed.segments[1]) == doctest::Approx(60));
  CHECK(feed.segments[0].timers.size() == 5);
}

TEST_CASE("a source that prints times in turn, but no number, is cut into rounds") {
  Feed feed;
  for (int k = 1; k <= 8; ++k) {
    feed.line(fmt::format("loader {} ms", k == 6 ? 8012 : 50 + k % 3));
    feed.line("free text");
    feed.line(fmt::format("compute {} ms", 120 + k % 2));
  }
  feed.finish();
  REQUIRE(feed.segments.size() == 6);  // the first three rounds are not known as such
  for (std::size_t i = 0; i < feed.segments.size(); ++i) {
    CHECK(feed.segments[i].beat == (i == 0 ? 0 : i + 3));
    CHECK(feed.segments[i].rounds == (i == 0 ? 0 : 1));
    CHECK_FALSE(feed.segments[i].iteration);
    CHECK(feed.segments[i].timers.size() == (i == 0 ? 0 : 2));
  }
  CHECK(feed.segments[3].timers[0].max_ms == 8012);
}

TEST_CASE("numbers that come every few rounds alone leave the rounds") {
  Feed feed;
  for (int k = 1; k <= 40; ++k) {
    feed.line(fmt::format("loader {} ms", 50 + k % 3));
    feed.line(fmt::format("compute {} ms", 120 + k % 2));
    if (k % 5 == 0) feed.line(step(k, 40));
  }
  feed.finish();
  std::set<std::uint32_t> rounds;
  for (const wire::Segment& segment : feed.segments)
    if (segment.rounds != 0) rounds.insert(segment.beat);
  CHECK(rounds.size() >= 36);
  CHECK(feed.segments.back().iteration == Iteration{40});
}

TEST_CASE("a line that prints number and time may begin a round, and keeps its number") {
  Feed feed;
  for (int k = 1; k <= 30; ++k) feed.line(fmt::format("{} took {} ms", step(k, 40), 50 + k % 3));
  feed.finish();
  std::vector<std::int64_t> completed;
  for (const wire::Segment& segment : feed.segments)
    if (segment.boundary == kCompleted) completed.push_back(segment.iteration->value());
  std::vector<std::int64_t> all(30);
  std::iota(all.begin(), all.end(), 1);
  CHECK(completed == all);
}

TEST_CASE("where numbers are printed, rounds cut nothing, and times that only grow are left out") {
  Feed feed;
  for (int k = 1; k <= 20; ++k) {
    feed.line(fmt::format("loader {} ms", 50 + k % 3));
    feed.line(fmt::format("compute {} ms", 120 + k % 2));
    feed.line(step(k, 40));
  }
  for (int k = 21; k <= 50; ++k) {
    feed.line(fmt::format("running for {} s", 10 * k));
    feed.line(step(k, 40));
  }
  feed.finish();
  REQUIRE(feed.segments.size() == 50);
  CHECK(feed.segments[9].beat == 10);
  const auto learned = [](const wire::Segment& segment) {
    return std::ranges::count_if(
        segment.timers, [](const wire::TimerTotal& total) { return total.timer >= kLearnedTimer; });
  };
  CHECK(learned(feed.segments[9]) == 2);
  CHECK(learned(feed.segments[24]) == 1);
  CHECK(learned(feed.segments[49]) == 0);
}

TEST_CASE("without markers a slice lasts a second") {
  Feed feed;
  for (int i = 0; i < 50; ++i) feed.line("worker is idle", i * 100);
  feed.finish();
  CHECK(feed.segments.size() >= 4);
  CHECK(feed.segments.size() <= 6);
  for (const wire::Segment& segment : feed.segments) {
    CHECK_FALSE(segment.iteration.has_value());
    CHECK(*segment.end - *segment.begin <= Segmenter::kSlice);
  }
}

TEST_CASE("signs of progress without a number are counted until one is printed") {
  Feed feed;
  for (int i = 0; i < 5; ++i)
    feed.line(fmt::format("{{'loss': 5.{}, 'learning_rate': 0.003, 'epoch': 0.{}}}", i, i),
              i * 1000);
  feed.finish();
  REQUIRE(feed.segments.size() == 5);
  for (const wire::Segment& segment : feed.segments) CHECK(segment.counted);
  CHECK(feed.segments.back().iteration == Iteration{5});
}

TEST_CASE("a line that only mentions an iteration cuts nothing") {
  Feed feed;
  feed.line(step(1), 0);
  for (int i = 0; i < 20; ++i)
    feed.line(fmt::format("slow batch at iteration {}: data loading took {} ms", i, 100 + i), 10,
              Level::warning);
  feed.line(step(2), 1000);
  feed.finish();
  CHECK(feed.segments.size() == 2);
}

TEST_CASE("order is run-length coded and cut where it is too long") {
  Feed feed;
  const auto a = feed.line("alpha is here");
  feed.line("alpha is here");
  const auto b = feed.line("beta came along as well");
  feed.line("alpha is here");
  feed.finish();
  REQUIRE(feed.segments.size() == 1);
  CHECK(feed.segments[0].order == std::vector<wire::Run>{{a, 2}, {b, 1}, {a, 1}});
  CHECK_FALSE(feed.segments[0].order_cut);

  Feed wild;
  for (std::size_t i = 0; i < Segmenter::kRunsMax; ++i) {
    wild.line("alpha is here");
    wild.line("beta came along as well");
  }
  wild.finish();
  REQUIRE(wild.segments.size() == 1);
  CHECK(wild.segments[0].order.size() == Segmenter::kRunsMax);
  CHECK(wild.segments[0].order_cut);
  CHECK(wild.segments[0].events[0].count == Segmenter::kRunsMax);
}

TEST_CASE("parameters are shipped as distinct tuples, few of each template") {
  Feed feed;
  for (int i = 0; i < 40; ++i)
    feed.line(fmt::format("connect to rank {} failed: errno 11{}", i % 20, i % 20), 5,
              Level::error);
  feed.finish();
  REQUIRE(feed.segments.size() == 1);
  std::map<std::uint32_t, std::size_t> tuples;
  for (const wire::ParameterTuple& tuple : feed.segments[0].parameters) {
    ++tuples[tuple.id.value()];
    CHECK_FALSE(tuple.values.empty());
  }
  CHECK_FALSE(tuples.empty());
  for (const auto& [id, count] : tuples) CHECK(count <= Segmenter::kTuplesMax);
}

TEST_CASE("every record is in exactly one segment") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    Feed feed;
    std::int64_t now = 0;
    int k = 0;
    std::map<std::uint32_t, std::uint64_t> said;
    const std::size_t lines = 1 + random() % 200;
    for (std::size_t i = 0; i < lines; ++i) {
      now += static_cast<std::int64_t>(random() % 700);
      std::optional<std::int64_t> time;
      if (random() % 5 != 0) time.emplace(now);
      switch (random() % 6) {
        case 0:
          ++said[feed.line(step(++k), time).value()];
          break;
        case 1:
          ++said[feed.line("saving checkpoint at iteration 9 to /mnt/x", time).value()];
          break;
        case 2:
          ++said[feed.line("successfully saved checkpoint at iteration 9", time).value()];
          break;
        case 3:
          ++said[feed.line("connection refused", time, Level::error).value()];
          break;
        default:
          ++said[feed.line(fmt::format("message {} of the day", i), time).value()];
      }
    }
    feed.finish();
    std::map<std::uint32_t, std::uint64_t> counted;
    std::uint64_t next_line = 1;
    std::uint64_t next_byte = 0;
    for (const wire::Segment& segment : feed.segments) {
      CHECK(segment.lines.first == next_line);
      CHECK(segment.bytes.from == next_byte);
      next_line = segment.lines.last + 1;
      next_byte = segment.bytes.to;
      std::uint64_t events = 0;
      std::uint64_t runs = 0;
      for (const wire::EventCount& event : segment.events) {
        counted[event.id.value()] += event.count;
        events += event.count;
        CHECK(event.first_line >= segment.lines.first);
        CHECK(event.first_line <= segment.lines.last);
      }
      for (const wire::Run& run : segment.order) runs += run.count;
      CHECK(events == runs);
      CHECK(events == segment.lines.last - segment.lines.first + 1);
    }
    CHECK(next_line == feed.lines() + 1);
    CHECK(next_byte == feed.bytes());
    CHECK(counted == said);
  }
}

struct BarRow {
  const char* bar;
  std::int64_t done, total;
  bool training;
};

TEST_CASE("kind: what was printed behind a bar comes after the iteration that the bar shows") {
  for (const BarRow& row : {
           BarRow{" 33%|###   | 30/90 [00:30<01:00,  1.00s/it]", 30, 90, true},
           BarRow{"Epoch 17:  81% 6080/7499 [54:22<12:41,  1.86it/s, loss=1.6]", 6080, 7499, true},
           BarRow{"Training: 412it [03:01,  2.27it/s]", 412, 0, true},
           BarRow{"Loading shards:  50%|##  | 2/4 [00:30<00:30, 15.00s/it]", 2, 4, false},
           BarRow{"model.bin:  40%|##  | 40/99 [00:30<00:30, 1.3MB/s]", 40, 99, false},
           BarRow{"Evaluating:  50%|##  | 20/40 [00:30<00:30,  1.5s/it]", 20, 40, false},
       }) {
    CAPTURE(row.bar);
    Feed feed;
    feed.line("what stands before", 0);
    feed.behind(row.bar, row.done, row.total, "Memory access fault by GPU node-3", 5000);
    feed.finish();
    const auto marked = std::ranges::find(feed.segments, kCompleted, &wire::Segment::boundary);
    REQUIRE((marked != feed.segments.end()) == row.training);
    const wire::Segment& last = feed.segments.back();
    CHECK(last.lines == wire::LineRange{2, 2});
    if (!row.training) continue;
    CHECK(marked->iteration == Iteration{row.done});
    CHECK(marked->lines == wire::LineRange{1, 1});
    CHECK(marked->end == TimeMs{Millis{0}});
    CHECK(last.boundary == wire::Boundary::none);
    CHECK_FALSE(feed.marker());  // the line of the text is no marker
  }
}

TEST_CASE("kind: a bar that was drawn for long ends that much later than the stamp before it") {
  for (const std::int64_t drawn : {0, 60'000, 3'600'000}) {
    CAPTURE(drawn);
    Feed feed;
    feed.line("what stands before", 0);
    feed.behind(" 33%|###   | 30/90 [1:00:00<2:00:00,  120s/it]", 30, 90, "cannot save", 3'000'000,
                drawn);
    feed.finish();
    const auto marked = std::ranges::find(feed.segments, kCompleted, &wire::Segment::boundary);
    REQUIRE(marked != feed.segments.end());
    // The text behind the bar has a stamp of its own, which is never earlier.
    CHECK(marked->end == TimeMs{Millis{std::min<std::int64_t>(drawn, 3'000'000)}});
  }
}

TEST_CASE("kind: a bar that counts along with the marker tells how far the source came") {
  struct Row {
    const char* text;   ///< of the marker
    int stride, apart;  ///< what the bar shows more than the marker
    bool along;
  };
  for (const Row& row : {Row{"step={} data_ms=0.2 fwd_ms=44.5 bwd_ms=130.1", 10, 0, true},
                         Row{"global step: {} loss: 2.5 lr: 0.001", 50, 1, true},
                         Row{"iteration index: {} batch loss: 0.7", 5, 0, true},
                         Row{"global step: {} loss: 2.5 lr: 0.001", 10, 4, false}}) {
    CAPTURE(row.text);
    Feed feed;
    const auto draw = [&](std::int64_t count) {
      feed.drawn(fmt::format(" 20%|##   | {}/900 [00:30<01:00,  1.00s/it]", count), count, 900);
    };
    const auto mark = [&](int number) { feed.line(fmt::format(fmt::runtime(row.text), number)); };
    for (int k = 1; k <= 6; ++k) {
      for (int i = 1; i < row.stride; i += 3) draw((k - 1) * row.stride + i);
      draw(k * row.stride + row.apart);
      mark(k * row.stride);
    }
    draw(6 * row.stride + row.apart + 3);
    feed.line("Traceback (most recent call last):", std::nullopt, Level::error);
    feed.finish();
    const wire::Segment& last = feed.segments.back();
    CHECK((last.iteration == Iteration{6 * row.stride + row.apart + 3}) == row.along);
    CHECK((last.boundary == kCompleted && last.events.empty()) == row.along);
  }
}

TEST_CASE("a bar on the first line has completed its iteration before the text behind it") {
  Feed feed;
  feed.behind(" 33%|###   | 30/90 [00:30<01:00,  1.00s/it]", 30, 90, "RuntimeError: no", 5000);
  feed.finish();
  REQUIRE(feed.segments.size() == 2);
  CHECK(feed.segments[0].events.empty());
  CHECK(feed.segments[0].iteration == Iteration{30});
  CHECK(feed.segments[0].boundary == kCompleted);
  CHECK(feed.segments[1].lines == wire::LineRange{1, 1});
}

TEST_CASE("finishing twice or with nothing gives nothing") {
  Feed feed;
  feed.finish();
  CHECK(feed.segments.empty());
  feed.line("hello out there");
  feed.finish();
  feed.finish();
  CHECK(feed.segments.size() == 1);
}

TEST_CASE("a clock that jumps to and fro cuts nothing, until it goes on") {
  Feed feed;
  std::mt19937 random(5);
  for (int i = 0; i < 64; ++i) feed.line("alpha is here", random() % 1'000'000'000);
  const std::size_t before = feed.segments.size();
  for (int i = 0; i < 1000; ++i) feed.line("alpha is here", random() % 1'000'000'000);
  CHECK(feed.segments.size() == before);
  for (int i = 0; i < 200; ++i) feed.line("alpha is here", 2'000'000'000 + 2'000 * i);
  CHECK(feed.segments.size() > before + 50);
}

TEST_CASE("some of many parameters are kept, and the first of each template") {
  const auto fed = [](Feed& feed) {
    for (int i = 0; i < 400; ++i)
      feed.line(fmt::format("worker {} died: exit code {}", std::string(1 + i % 5, 'w'), i), 5,
                Level::error);
    feed.finish();
    REQUIRE(feed.segments.size() == 1);
    return feed.segments[0].parameters.size();
  };
  Feed all, some;
  some.segmenter().set_shares({128, 3200}, {4, 1 << 20});
  CHECK(fed(all) > 8);
  CHECK(fed(some) <= 8);
  CHECK(some.segments[0].parameters.size() >= 4);
}

TEST_CASE("kind: numbers with a fraction count no iterations, their lines are signs of progress") {
  const auto fed = [](const char* whole, const char* fraction) {
    Feed feed;
    for (int i = 1; i <= 12; ++i)
      feed.line(fmt::format(":::MLLOG {{\"key\": \"tracked_stats\", \"value\": {{\"train_loss\": "
                            "2.{}}}, \"metadata\": {{\"step\": {}{}}}}}",
                            i, 40 + i * 5 % 7, i < 3 ? whole : fraction),
                i * 1000);
    feed.finish();
    return std::pair(feed.segments.back().counted, feed.segments.back().numbering);
  };
  for (const char* fraction : {".5", ".04", ".875"})
    CHECK(fed("", fraction) == std::pair(true, std::uint16_t{1}));
  for (const char* none : {"", ".0", ".00"}) CHECK_FALSE(fed(none, none).first);
}

TEST_CASE("kind: beside a pack's line, what an evaluation counts is no iteration") {
  for (const char* counter : {"eval step {} | time 90 ms", "Validation iteration {} took 0.09 s",
                              "[step={}] val_loss: 3.2, 80 ms"}) {
    CAPTURE(counter);
    Feed feed;
    std::int64_t now = 0;
    for (int i = 1; i <= 40; ++i) {
      feed.line(fmt::format(":::MLLOG {{\"key\": \"tracked_stats\", \"value\": {{\"train_loss\": "
                            "2.{}}}, \"metadata\": {{\"step\": {}.5}}}}",
                            i, 32 * i),
                now += 9000);
      if (i % 10 == 0)
        for (int step = 0; step < 30; ++step)
          feed.line(fmt::format(fmt::runtime(counter), step), now += 100);
    }
    feed.finish();
    for (const wire::Segment& segment : feed.segments) CHECK(segment.counted);
  }
}

TEST_CASE("kind: a line that a pack knows as a sign of progress holds no number of an iteration") {
  for (const char* sign : {"\"key\": \"block_stop\", \"metadata\": {{\"first_epoch_num\": {}}}",
                           "\"key\": \"train_loss\", \"metadata\": {{\"samples_count\": {}}}",
                           "\"key\": \"eval_accuracy\", \"metadata\": {{\"epoch_num\": {}}}"}) {
    CAPTURE(sign);
    Feed feed;
    for (std::int64_t i = 1; i <= 30; ++i)
      feed.line(":::MLLOG {" + fmt::format(fmt::runtime(sign), 50'331'648 * i) + "}", i * 90'000);
    feed.finish();
    CHECK(feed.segments.back().counted);
  }
}

}  // namespace
}  // namespace l4::segment
