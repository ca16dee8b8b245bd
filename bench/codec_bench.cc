// Encodes and decodes a batch of a busy node, in bytes of message per second.
#include <benchmark/benchmark.h>

#include <string>

#include "common/wire/codec/batch_codec.h"

namespace {

using namespace l4;
using namespace l4::wire;

Batch busy_batch() {
  Batch batch;
  batch.agent = "node-0007";
  for (std::uint32_t t = 0; t < 20; ++t)
    batch.templates.push_back(
        {LocalTemplateId{t},
         1,
         "iteration <*>/ <*> | consumed samples: <*> | elapsed time " + std::to_string(t),
         Level::info,
         0,
         {Skeleton{t}, Skeleton{t + 100}},
         {}});
  for (std::uint32_t s = 0; s < 64; ++s) {
    Segment segment;
    segment.source = SourceId{s % 8};
    segment.stage = Stage::training;
    segment.iteration = Iteration{s};
    for (std::uint32_t e = 0; e < 40; ++e) {
      segment.events.push_back({LocalTemplateId{e}, e, e, TimeMs{Millis{e}}});
      segment.order.push_back({LocalTemplateId{e}, 1});
    }
    segment.parameters = {{LocalTemplateId{3}, 1, {{ParameterKind::host, "node-0011"}}}};
    batch.segments.push_back(std::move(segment));
  }
  return batch;
}

void encode_batch(benchmark::State& state) {
  const Batch batch = busy_batch();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Bytes message = encode(batch);
    bytes += message.size();
    benchmark::DoNotOptimize(message.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(encode_batch);

void decode_batch(benchmark::State& state) {
  const Bytes message = encode(busy_batch());
  for (auto _ : state) {
    const auto batch = decode(message);
    benchmark::DoNotOptimize(batch->segments.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(message.size() * state.iterations()));
}
BENCHMARK(decode_batch);

}  // namespace
