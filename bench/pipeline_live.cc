// The cost of the pipeline of a live agent: decoder, Drain tree and segmenters over files that grow
// in turns; batches are encoded, and nothing is read from disk or sent. Caches are cold at the
// beginning of each turn, as they are for an agent that sleeps between turns. Prints nanoseconds of
// processor time per byte, for new text and for the same text again.
//
// usage: l4_pipeline_live FRAMEWORKS FILE...      FRAMEWORKS: config/frameworks
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agent/pipeline/job_pipeline.h"
#include "agent/segment/rule_pack.h"
#include "bench/thread_time.h"
#include "common/wire/codec/batch_codec.h"

namespace {

using namespace l4;

// Bytes that a scan finds in each file, at 10 MB/s into 8 files.
constexpr std::size_t kTurnBytes = 1'250'000;
constexpr std::size_t kOthersBytes = 96 << 20;  // more than the largest cache
constexpr std::size_t kFlushBytes = 5'000'000;

class Encoded : public pipeline::Output {
 public:
  void batch(wire::Batch&& batch) override { bytes_ += wire::encode(batch).size(); }
  std::size_t bytes_ = 0;
};

using bench::used;

/// Fills the caches, as other processes do while the agent sleeps.
void cool(std::vector<char>& others) {
  for (std::size_t i = 0; i < others.size(); i += 64) ++others[i];
}

struct File {
  std::string text;
  pipeline::LogNumber log{};
  std::size_t at = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: l4_pipeline_live FRAMEWORKS FILE...\n");
    return 2;
  }
  auto packs = segment::RulePackSet::load(words[1]);
  if (!packs) {
    std::fprintf(stderr, "%s\n", packs.error().text().c_str());
    return 2;
  }
  Encoded output;
  pipeline::Options options;
  options.live = true;
  options.drain.templates_max = 20'000;
  options.drain.memo_entries_max = 50'000;
  pipeline::JobPipeline pipeline("job", *packs, options, output);
  std::vector<File> files;
  std::size_t all = 0;
  for (int i = 2; i < count; ++i) {
    File& file = files.emplace_back();
    file.text.resize(std::filesystem::file_size(words[i]));
    std::ifstream(words[i], std::ios::binary).read(file.text.data(), std::ssize(file.text));
    discover::LogFile facts;
    facts.name = words[i];
    facts.node = "node-a";
    facts.kind = wire::SourceKind::rank;
    file.log = pipeline.open(facts, std::nullopt);
    pipeline::FilePosition part;
    part.path = facts.name;
    part.file.key = std::uint64_t(i);
    pipeline.begin_part(file.log, part);
    all += file.text.size();
  }
  Millis now{0};
  std::vector<char> others(kOthersBytes);
  for (const char* pass : {"new", "known"}) {
    double busy = 0;
    const std::size_t sent = output.bytes_;
    std::size_t fed = 0, flushed = 0;
    for (File& file : files) file.at = 0;
    while (fed < all) {
      cool(others);
      const double before = used();
      for (File& file : files) {
        const auto some = std::string_view(file.text).substr(file.at, kTurnBytes);
        pipeline.feed(file.log, some);
        file.at += some.size();
        fed += some.size();
      }
      if (fed - flushed >= kFlushBytes || pipeline.full()) {
        now += Millis{500};
        pipeline.flush(now);
        flushed = fed;
      }
      busy += used() - before;
    }
    pipeline.flush(now, true);
    std::printf("%s: %.1f MB, %.3f ns a byte, %.2f %% of the bytes on the wire\n", pass,
                double(all) / 1e6, 1e9 * busy / double(all),
                100 * double(output.bytes_ - sent) / double(all));
  }
}
