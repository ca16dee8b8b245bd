// The shipped packs: each framework's marker line, the iteration that it marks, and lines that only
// resemble a marker.
#include "agent/segment/rule_pack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/agent/segment/pack_reading.h"

namespace l4::segment {
namespace {

using segment::test::packs;

struct MarkerRow {
  const char* line;
  const char* pack;
  std::int64_t iteration;
  wire::Boundary boundary;
  IterationSpeaker speaker;
};

constexpr auto kDone = wire::Boundary::completed;
constexpr auto kBegun = wire::Boundary::started;
constexpr auto kOne = IterationSpeaker::one;
constexpr auto kAll = IterationSpeaker::all;

const std::vector<MarkerRow> kMarkers{
    // Recorded runs.
    {" iteration       10/     150 | consumed samples:          320 | elapsed time per iteration "
     "(ms): 301.4 | learning rate: 1.5E-03 | global batch size:   32 | lm loss: 5.5E+00 |",
     "megatron", 10, kDone, kOne},
    {"[rank 5] iteration 42 | batch-generator: 0.21 | forward-compute: 44.81 | backward-compute: "
     "80.12 | grads-all-reduce: 60.10 | optimizer: 1.58 | local grad norm: 0.2",
     "megatron", 42, kDone, kAll},
    {"iteration 43 | batch-generator: 0.21 | forward-compute: 44.81 | backward-compute: 80.12 |",
     "megatron", 43, kDone, kAll},
    {"[Rank 2] step=130 time (ms) | batch_input: 0.2 | fwd: 40.8 | bwd_inner: 72.2 | "
     "bwd_allreduce: 35.8 | step: 3.7",
     "deepspeed", 130, kDone, kAll},
    {"[Rank 0] step=55, skipped=0, lr=[0.003], mom=[(0.9, 0.95)]", "deepspeed", 55, kDone, kOne},
    {"steps: 55 loss: 5.5019 iter time (s): 0.301 samples/sec: 79.7", "megatron", 55, kDone, kOne},
    {"Process rank: 3, step 12: data_time 0.0014 compute_time 0.3018 sync_time 0.0023 grad_norm 1",
     "hf", 12, kDone, kAll},
    {"  5%|▌         | 6/120 [00:01<00:32,  3.56it/s]", "hf", 6, kDone, kOne},
    {"  0%|          | 1/120 [00:00<00:36,  3.25it/s]I20261120 15:53:28.891218 28305 reducer.cpp",
     "hf", 1, kDone, kOne},
    {"  4%|▍ | 5/120 [00:01<00:35,  3.27it/s]11/20/2026 15:53:30 - INFO - __main__ - Process rank: "
     "0, step 6: data_time 0.0075 compute_time 0.2623 sync_time 0.0112 grad_norm 0.2476",
     "hf", 6, kDone, kAll},
    {"step=68 data_ms=0.2 fwd_ms=47.0 bwd_ms=130.1 allreduce_ms=13.9 opt_ms=1.5 gnorm=0.2391",
     "plain", 68, kDone, kAll},
    {"trainer: step=70/110 loss=5.51 lr=3.0e-03 grad_norm=0.2 step_ms=198.3 samples=3360 "
     "nan_steps=0",
     "plain", 70, kDone, kOne},
    {"iteration 69: batch of 4 samples ready, starting forward-backward", "plain", 69, kBegun,
     kAll},
    // Other frameworks.
    {" iteration    20/  100 | consumed samples:  10240 | consumed tokens:  20971520 | elapsed "
     "time per iteration (s): 105.2 | learning rate: 6.0E-05 |",
     "megatron", 20, kDone, kOne},
    {"[titan] 2025-06-04 08:51:58,557 - root - INFO - step: 10  loss: 10.7069  memory: "
     "30.99GiB(32.62%)  tps: 7,034  tflops: 407.35  mfu: 41.19%",
     "torchtitan", 10, kDone, kAll},
    {"step:1468/1490 train_time:209667ms step_avg:143.80ms", "nanogpt", 1468, kDone, kOne},
    {"step 00109 (0.00%) | loss: nan | lrm: 1.00 | dt: 4.95ms | tok/sec: 25,858", "nanogpt", 109,
     kDone, kOne},
    {"iter 250: loss 2.4018, time 135.33ms, mfu 17.20%", "nanogpt", 250, kDone, kOne},
    {":::MLLOG {\"namespace\": \"\", \"time_ms\": 1759, \"event_type\": \"POINT_IN_TIME\", "
     "\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 4.2, \"reduced_train_loss\": "
     "6.1}, \"metadata\": {\"file\": \"callbacks.py\", \"lineno\": 7, \"step\": 31.0, "
     "\"samples_count\": 7936.0}}",
     "mllog", 31, kDone, kOne},
    {"[mindformers/core/callback/callback.py:316] - INFO - { Epoch:[  1/  2], step:[   12/  500], "
     "loss: 6.31, per_step_time: 812ms, lr: 1e-5, overflow cond: False",
     "mindformers", 12, kDone, kAll},
    {"Training epoch 0, iteration 19/999 | lr: 1.9e-06 | global_batch_size: 64 | global_step: 19 "
     "| reduced_train_loss: 9.87 | train_step_timing in s: 3.41",
     "nemo", 19, kDone, kOne},
    {"step:7 - global_seqlen/min:4055.000 - actor/kl_loss:0.001 - actor/lr:0.0", "verl", 7, kDone,
     kOne},
    {"completed step: 120, seconds: 3.412, TFLOP/s/device: 210.1, loss: 4.1", "maxtext", 120, kDone,
     kAll},
};

TEST_CASE("a framework's step line marks its iteration") {
  for (const auto& row : kMarkers) {
    CAPTURE(row.line);
    const auto role = packs().classify(row.line);
    REQUIRE(role.iteration != nullptr);
    CHECK(role.iteration->pack == row.pack);
    CHECK(role.iteration->boundary == row.boundary);
    CHECK(role.iteration->speaker == row.speaker);
    CHECK(read_number(row.line, role.iteration->number_after) == row.iteration);
  }
}

TEST_CASE("a line that only mentions an iteration is no marker") {
  for (const char* line : {
           "slow batch: data loading took 112 ms (threshold 100 ms) at iteration 56",
           "> saving checkpoint at iteration 50 to /mnt/ckpt ...",
           "  successfully saved checkpoint at iteration      50 to /mnt/ckpt",
           " validation loss at iteration 60 | lm loss value: 5.9E+00 | lm loss PPL: 3.8E+02 |",
           "iteration 69: entering gradient all-reduce",
           "exiting program at iteration 120",
           "(after 2 iterations) memory (MB) | rss: 246.3 | max rss: 246.4",
           "non-finite gradient norm (nan) at iteration 68, skipping optimizer step",
           "epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=12.1",
           "Grad overflow on iteration 12",
           "Loading checkpoint shards: 100%|██████████| 5/5 [00:03<00:00,  1.6it/s]",
           "step:125/1490 val_loss:4.3 train_time:17907ms step_avg:143.2ms",
           "[Rank 0 / 8] [before iteration 10] Training TinyGPT unused_parameter_size=0",
           "Evaluating iter 3/10",
           "[titan] root - INFO - validate step: 20  loss:  3.11  memory: 27.34GiB  tps: 9,012",
           "step:0 - val-core/gsm8k/acc/mean@1:0.41",
           "Sanity Checking DataLoader 0:  50%|█████     | 1/2 [00:00<00:00,  4.11it/s]",
           "Val:  50%|█████     | 2/4 [00:02<00:02,  1.90it/s]",
           "Train epoch [1/1]:  50%|█████     | 4/8 [00:02<00:02,  1.9it/s]",
           "(min, max) time across ranks (ms):",
       }) {
    CAPTURE(line);
    CHECK(packs().classify(line).iteration == nullptr);
  }
}

TEST_CASE("stages begin and end with their lines") {
  struct Row {
    const char* line;
    Stage begin, end;
  };
  for (const Row& row : {
           Row{"> saving checkpoint at iteration 50 to /mnt/ckpt ...", Stage::checkpoint_save, {}},
           Row{"  successfully saved checkpoint at iteration 50 to /mnt/ckpt",
               {},
               Stage::checkpoint_save},
           Row{"checkpoint shard written: /mnt/ckpt/model_optim_rng.pt (540 KiB) in 0.7 s",
               {},
               Stage::checkpoint_save},
           Row{"evaluating on the validation set for 4 iterations", Stage::evaluation, {}},
           Row{"evaluating done in 0.542 s", {}, Stage::evaluation},
           Row{"initializing torch distributed, backend gloo, master node-00:56325",
               Stage::init,
               {}},
           Row{"initializing torch distributed done in 0.445 s", {}, {}},
           Row{"building GPT model ...", Stage::model_build, {}},
           Row{"building GPT model done in 0.01 s", {}, {}},
           Row{"[before the start of training step] datetime: 2026-11-20 15:53:31",
               Stage::training,
               {}},
           Row{"start training from iteration 0", Stage::training, {}},
           Row{"[after training is done] datetime: 2026-11-20 15:54:31", Stage::exit, {}},
       }) {
    CAPTURE(row.line);
    const auto role = packs().classify(row.line);
    CHECK(name(role.stage) == name(row.begin));
    CHECK(name(role.stage_end) == name(row.end));
  }
}

TEST_CASE("timers are read in milliseconds with their role") {
  struct Row {
    const char* line;
    const char* timer;
    double ms;
    TimerRole role;
  };
  for (const Row& row : {
           Row{kMarkers[1].line, "forward-compute", 44.81, TimerRole::own},
           Row{kMarkers[1].line, "grads-all-reduce", 60.10, TimerRole::wait},
           Row{kMarkers[0].line, "iteration", 301.4, TimerRole::mixed},
           Row{kMarkers[3].line, "fwd", 40.8, TimerRole::own},
           Row{kMarkers[3].line, "bwd_allreduce", 35.8, TimerRole::wait},
           Row{kMarkers[3].line, "step", 3.7, TimerRole::own},
           Row{kMarkers[6].line, "compute_time", 301.8, TimerRole::mixed},
           Row{kMarkers[6].line, "sync_time", 2.3, TimerRole::wait},
           Row{kMarkers[10].line, "fwd_ms", 47.0, TimerRole::own},
           Row{kMarkers[10].line, "allreduce_ms", 13.9, TimerRole::wait},
       }) {
    CAPTURE(row.line);
    CAPTURE(row.timer);
    const auto timers = packs().classify(row.line).timers;
    const auto found =
        std::ranges::find_if(timers, [&](const Timer* t) { return t->name == row.timer; });
    REQUIRE(found != timers.end());
    const auto value = read_value(row.line, (*found)->number_after);
    REQUIRE(value.has_value());
    CHECK(*value * (*found)->ms_per_unit == doctest::Approx(row.ms));
    CHECK((*found)->role == row.role);
  }
}

TEST_CASE("ends, teardown noise and progress") {
  CHECK(packs().classify("exiting program at iteration 120").finished);
  CHECK(packs().classify("[launch.py:319:main] Process 4711 exits successfully.").finished);
  CHECK(packs().classify("Process group destroyed").finished);
  for (const char* own : {"training finished", "Training finished.", "[rank0] Training done",
                          "training complete", "Training is complete, 1,000 steps"})
    CHECK(packs().classify(own).finished);
  CHECK_FALSE(packs().classify("Training finished with errors").finished);
  CHECK_FALSE(packs().classify("training finished, exit code 1").finished);
  CHECK(packs()
            .classify(":::MLLOG {\"key\": \"run_stop\", \"metadata\": {\"status\": \"success\"}}")
            .finished);
  CHECK_FALSE(packs()
                  .classify(":::MLLOG {\"key\": \"run_stop\", \"metadata\": {\"status\": "
                            "\"aborted\"}}")
                  .finished);
  CHECK(packs().classify("{'loss': 5.51, 'learning_rate': 0.003, 'epoch': 0.4}").progress);
  CHECK(packs()
            .classify("Warning: WARNING: destroy_process_group() was not called before program "
                      "exit, which can leak resources.")
            .teardown);
  CHECK_FALSE(packs().classify("RuntimeError: CUDA error: unknown error").teardown);
}

TEST_CASE("lines printed after a failure, and a signal, which may be the only line") {
  const auto is_aftermath = [](std::string_view line) { return packs().classify(line).aftermath; };
  CHECK(is_aftermath("api.py:984] failed (exitcode: 1) local_rank: 0 (pid: 4121) of binary: /py"));
  CHECK_FALSE(is_aftermath("api.py:984] failed (exitcode: -9) local_rank: 0 (pid: 4121) of: /py"));
  CHECK(is_aftermath("api.py:1010] Sending process 104966 closing signal SIGTERM"));
  CHECK(is_aftermath("[Rank 3] Process group watchdog thread terminated with exception: NCCL"));
  CHECK_FALSE(is_aftermath("Process group watchdog thread terminated with exception: CUDA error"));
  CHECK_FALSE(is_aftermath("RuntimeError: CUDA error: unknown error"));
}

TEST_CASE("numbers stand behind the first anchor that has one") {
  CHECK(read_number("elapsed iteration (ms) iteration: 12", "iteration") == 12);
  CHECK(read_number("step:[   31/  500]", "step:[") == 31);
  CHECK(read_number("step 00109", "step") == 109);
  CHECK_FALSE(read_number("iteration", "iteration").has_value());
  CHECK_FALSE(read_number("iteration -5", "iteration").has_value());
  CHECK_FALSE(read_number("iteration 99999999999999999999", "iteration").has_value());
  CHECK(read_progress("|▌   | 6/120 [00:05", "| ") == Progress{6, 120});
  CHECK(read_progress("iteration   10/    150 |", "iteration") == Progress{10, 150});
  CHECK(read_progress("step=7, skipped", "step=") == Progress{7, std::nullopt});
  CHECK(read_progress("step=7.00, skipped", "step=") == Progress{7, std::nullopt});
  CHECK_FALSE(read_progress("step=7.25, skipped", "step=").has_value());
  CHECK(read_value("fwd: 1.5e2 |", "fwd:") == 150.0);
  CHECK(read_value("    forward-compute .....: (12.50, 13.75)", "forward-compute ") == 12.5);
  CHECK_FALSE(read_value("grad norm: nan", "grad norm:").has_value());
}

TEST_CASE("a bad pack names file, line and key") {
  const auto folder = std::filesystem::temp_directory_path() / "l4_rule_pack_test";
  std::filesystem::create_directories(folder);
  const auto error_of = [&](const char* content) {
    std::ofstream(folder / "bad.toml") << content;
    auto loaded = RulePackSet::load(folder);
    return loaded ? std::string("loaded") : loaded.error().text();
  };
  const std::string file = (folder / "bad.toml").string();
  CHECK(error_of("name = \"a\"\n[[timer]]\nname = 3\n").starts_with(file + ":3: name: must be"));
  CHECK(error_of("name = \"a\"\n\n[[iteration]]\nnumber_after = \"x\"\n")
            .starts_with(file + ":3: contains: missing"));
  CHECK(error_of("name = \"a\"\n[[finished]]\ncontains = [\"x\"]\nexclude = [\"y\"]\n")
            .starts_with(file + ":4: exclude: unknown key"));
  CHECK(error_of("name = \"a\"\n[[stage]]\nstage = \"lunch\"\ncontains = [\"x\"]\n")
            .starts_with(file + ":3: stage: names no stage"));
  CHECK(error_of("name = \n").starts_with(file + ":1: no valid TOML"));
  CHECK(error_of("name = \"a\"\n[[iteration]]\ncontains = [\"x\"]\nnumber_after = \"\"\n")
            .starts_with(file + ":4: number_after: an empty text"));
  CHECK(error_of("name = \"a\"\n[[banner]]\ncontains = [\"x\"]\nexcludes = [\"x\"]\n")
            .starts_with(file + ":4: excludes: \"x\" leaves no line"));
  CHECK(error_of("name = \"a\"\n[[banner]]\ncontains = [\"x\", \"\"]\n")
            .starts_with(file + ":3: contains: an empty text"));
  CHECK(error_of("name = \"\"\n").starts_with(file + ":1: name: must not be empty"));
  CHECK(error_of("name = \"a\"\n[[banners]]\ncontains = [\"x\"]\n")
            .starts_with(file + ":2: banners: unknown key"));
  CHECK(error_of("name = \"a\"\n") == "loaded");
  std::filesystem::remove_all(folder);
  CHECK(RulePackSet::load(folder).error().where == folder.string());
}

}  // namespace
}  // namespace l4::segment
