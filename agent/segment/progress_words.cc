#include "agent/segment/progress_words.h"

#include <array>

#include "common/base/ascii.h"
#include "common/parameters/by_first_letters.h"

namespace l4::segment {
namespace {

using enum Says;

/// Where two rows fit a word, the upper one counts.
constexpr std::array<ProgressWord, 118> kWords{{
    {"step", iteration, false, "global_step: 31"},
    {"iter", iteration, false, "iter 120: loss 2.1"},
    {"iteration", iteration, false, "iteration [ 7]"},
    {"it", iteration, false, "it=15 gnorm=0.3"},
    {"batch", iteration, false, "Batch [20]"},
    {"minibatch", iteration, false, "minibatch 40 done"},
    {"update", iteration, false, "\"num_updates\": \"30\""},
    {"round", iteration, false, "[ROUND 94]"},
    {"tick", iteration, false, "tick 902 kimg 45143.4"},
    {"epoch", epoch, false, "Epoch 199: Train Loss 0.2"},
    {"episode", epoch, false, "episode 12 return 3.5"},
    {"sample", sample, false, "\"samples_count\": 128"},
    {"example", sample, false, "seen examples: 4096"},
    {"token", sample, false, "tokens: 32768"},
    {"image", sample, false, "images: 640"},
    {"sequence", sample, false, "sequences: 64"},
    {"num", number, false, "\"epoch_num\": 3"},
    {"number", number, false, "step number 3"},
    {"idx", number, false, "batch_idx=3"},
    {"index", number, false, "batch index 3"},
    {"count", number, false, "step count: 3"},
    {"process", other_thing, false, "Killing subprocess 4100"},
    {"subprocess", other_thing, false, "subprocess 7"},
    {"pid", other_thing, false, "pid=4100"},
    {"port", other_thing, false, "port 29500"},
    {"rank", other_thing, false, "local_rank: 3"},
    {"node", other_thing, false, "node 3"},
    {"worker", other_thing, false, "worker 3"},
    {"thread", other_thing, false, "thread 3"},
    {"layer", other_thing, false, "layer 3"},
    {"gpu", other_thing, false, "GPU 3"},
    {"npu", other_thing, false, "NPU 3"},
    {"device", other_thing, false, "device: 3"},
    {"seed", other_thing, false, "seed 3"},
    {"line", other_thing, false, "line 779"},
    {"lineno", other_thing, false, "\"lineno\": 48"},
    {"attempt", other_thing, false, "attempt 3"},
    {"retry", other_thing, false, "retry 3/10"},
    {"channel", other_thing, false, "Channel 03/32"},
    {"request", other_thing, false, "request 12"},
    {"task", other_thing, false, "task 12"},
    {"file", other_thing, false, "file 3/9"},
    {"bucket", other_thing, false, "bucket 3"},
    {"expert", other_thing, false, "expert 3"},
    {"trial", other_thing, false, "trial 3"},
    {"loader", other_thing, false, "DataLoader 0"},
    {"loss", measure, true, "loss: 2.1"},
    {"lr", measure, false, "lr 0.0004"},
    {"learning", measure, false, "learning rate: 1e-4"},
    {"logloss", measure, false, "train-logloss:0.66"},
    {"mlogloss", measure, false, "train-mlogloss:0.66"},
    {"rmse", measure, false, "train-rmse:0.66"},
    {"mae", measure, false, "mae: 0.06"},
    {"mse", measure, false, "mse: 0.06"},
    {"auc", measure, false, "auc: 0.71"},
    {"perplexity", measure, false, "perplexity 9.1"},
    {"ppl", measure, false, "ppl=9.1"},
    {"acc", measure, false, "train_acc : 0.71"},
    {"accuracy", measure, false, "accuracy=0.4"},
    {"grad", measure, false, "grad norm: 0.5"},
    {"gnorm", measure, false, "gnorm 0.5"},
    {"reward", measure, false, "reward: 1.5"},
    {"return", measure, false, "return 3.5"},
    {"kl", measure, false, "kl: 0.01"},
    {"throughput", measure, false, "throughput 120"},
    {"tflops", measure, false, "tflops: 407"},
    {"flops", measure, false, "flops 1.2"},
    {"mfu", measure, false, "mfu: 41%"},
    {"tps", measure, false, "tps: 7034"},
    {"wps", measure, false, "wps=7034"},
    {"ups", measure, false, "ups=1.2"},
    {"speed", measure, false, "Speed: 1272 samples/sec"},
    {"time", measure, false, "iteration_time : 71"},
    {"elapsed", measure, false, "elapsed 3"},
    {"eta", measure, false, "eta: 0:00:44"},
    {"ms", measure, false, "ms/batch 10"},
    {"sec", measure, false, "1272 samples/sec"},
    {"second", measure, false, "seconds: 3.1"},
    {"train", training, true, "Training bar"},
    {"eval", evaluation, true, "Evaluating: 5"},
    {"valid", evaluation, true, "Validation DataLoader 0"},
    {"val", evaluation, false, "Val: [10/100]"},
    {"test", evaluation, false, "Test: [ 0/98]"},
    {"testing", evaluation, false, "Testing DataLoader 0"},
    {"predict", evaluation, true, "Predicting 3"},
    {"infer", evaluation, true, "inference 3/10"},
    {"load", preparation, true, "Loading checkpoint shards"},
    {"fetch", preparation, true, "Fetching 4 files"},
    {"download", preparation, true, "Downloading data"},
    {"upload", preparation, true, "uploaded 3/9"},
    {"map", preparation, false, "Map (num_proc=8)"},
    {"tokeniz", preparation, true, "Tokenizing train dataset"},
    {"filter", preparation, true, "Filter"},
    {"shard", preparation, true, "shards 3/17"},
    {"pack", preparation, true, "Packing"},
    {"generating", preparation, false, "Generating train split"},
    {"saving", preparation, false, "Saving the dataset"},
    {"convert", preparation, true, "Converting format"},
    {"preprocess", preparation, true, "Preprocessing"},
    {"processing", preparation, false, "Processing documents"},
    {"captur", preparation, true, "Capturing CUDA graphs"},
    {"writing", preparation, false, "Writing parquet"},
    {"reading", preparation, false, "Reading parquet"},
    {"resolv", preparation, true, "Resolving data files"},
    {"sanity", preparation, false, "Sanity Checking"},
    {"quantiz", preparation, true, "Quantizing blocks"},
    {"extract", preparation, true, "Extracting"},
    {"unpack", preparation, true, "Unpacking"},
    {"compil", preparation, true, "Compiling kernels"},
    {"building", preparation, false, "Building CXX object"},
    {"prepar", preparation, true, "Preparing data"},
    {"cach", preparation, true, "Caching latents"},
    {"copying", preparation, false, "Copying files"},
    {"import", preparation, true, "Importing"},
    {"index", preparation, true, "Indexing"},
    {"collat", preparation, true, "Collating"},
    {"grouping", preparation, false, "Grouping texts in chunks"},
    {"splitting", preparation, false, "Splitting dataset"},
}};
constexpr parameters::ByFirstLetters kByLetters(kWords);

}  // namespace

std::optional<Says> meaning_of(std::string_view word) {
  for (const ProgressWord& known : kByLetters.of(word)) {
    if (!begins_lower(word, known.low)) continue;
    const std::string_view rest = word.substr(known.low.size());
    if (rest.empty() || known.begins || rest == "s" || rest == "S" || rest == "es")
      return known.says;
  }
  constexpr std::string_view kStep = "step";  // timestep, globalstep
  if (word.size() > kStep.size() && begins_lower(word.substr(word.size() - kStep.size()), kStep))
    return iteration;
  return std::nullopt;
}

std::string_view last_part(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_letter(line[begin - 1])) {
    if (begin < end && is_upper(line[begin]) && !is_upper(line[begin - 1])) break;
    --begin;
  }
  return line.substr(begin, end - begin);
}

std::uint32_t hash_of(std::string_view word) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(lower(c))) * 16777619U;
  return hash;
}

std::span<const ProgressWord> progress_words() {
  return kWords;
}

}  // namespace l4::segment
