// The states of made jobs by their last lines: ended, stopped, or stuck at the end.
#include <doctest/doctest.h>

#include <functional>
#include <string_view>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/verdict.h"
#include "aggregator/faults/library.h"
#include "tests/aggregator/diagnose/made_faults.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;
using job::test::Say;

/// The report of a job of two ranks that trained for 20 s and whose last lines `end` prints.
Report ended(const std::function<void(MadeJob&)>& end, const faults::Library* library = nullptr) {
  MadeJob job(2);
  job.iterate_all(1, 20);
  end(job);
  Options options;
  options.library = library;
  return diagnose(job.state(), {}, options).report;
}

TEST_CASE("verdict: kind 'a warning of Python': what it warns of did not happen to the job") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  for (const char* line :
       {"/opt/a/logging.py:115: UserWarning: Failed to import the plugin due to: "
        "ImportError('peft>=0.17.0 is required for a normal functioning of this module')",
        "x/cpp_extension.py:9: RuntimeWarning: torch.cuda.OutOfMemoryError: CUDA out of memory was "
        "caught, the batch is halved",
        "pkg.py:3: ImportWarning: ModuleNotFoundError: No module named 'apex'"}) {
    CAPTURE(line);
    const Report report = ended(
        [&](MadeJob& job) {
          job.say(0, {line, Level::warning}, 21'000);
          job.say(0, {"The job finished successfully", Level::unknown}, 21'100);
        },
        &*library);
    CHECK(report.verdict.state == State::finished);
    CHECK(report.events.empty());
  }
}

void reach(MadeJob& job, wire::Reach reach) {
  for (const int rank : {0, 1}) job.iterate(rank, 21, 21'000).reach = reach;
}

TEST_CASE("verdict: kind 'threads': what ends a thread beside a good end harms nothing") {
  for (const char* head : {"Exception in thread Thread-83:", "Exception in thread QueueFeeder:",
                           "Exception in the main program:"}) {
    for (const char* end : {"The job finished successfully", "a last line"}) {
      CAPTURE(head);
      CAPTURE(end);
      const Report report = ended([&](MadeJob& job) {
        job.say(0, {end}, 21'000);
        job.say(0, {head, Level::unknown}, 21'100);
        job.say(0, {"AssertionError: only in dynamic mode", Level::error}, 21'200);
      });
      const bool thread = std::string_view(head).contains("thread");
      const bool well = std::string_view(end).contains("successfully");
      CHECK((report.verdict.state == State::crashed) == !(thread && well));
    }
  }
}

TEST_CASE("verdict: kind 'the launcher saw it end': peers that wait for it make no hang of it") {
  for (const char* exit : {"failed (exitcode: -9) local_rank: 3 (pid: 4711)",
                           "node-b: ssh exited with exit code 255", "a note of the launcher"}) {
    CAPTURE(exit);
    const Report report = ended([&](MadeJob& job) {
      job.say(1, {exit, Level::error}, 22'000);
      job.say(0, {"RuntimeError: the peer did not answer", Level::error}, 1'822'000);
    });
    const bool seen = std::string_view(exit).contains("exit");
    CHECK((report.verdict.state == State::crashed) == seen);
  }
}

TEST_CASE("verdict: kind 'ended without a word': what shows the end decides, in any wording") {
  struct Row {
    const char* line;
    wire::Reach reached;
    State state;
  };
  using enum wire::Reach;
  for (const Row& row :
       {Row{"There appear to be 8 leaked semaphore objects to clean up at shutdown", before,
            State::crashed},
        Row{"There appear to be 2 leaked shared_memory objects to clean up at shutdown", unknown,
            State::crashed},
        Row{"[user@node-3 llm]$", before, State::crashed},
        Row{"Connection to node-3 closed.", before, State::crashed},
        Row{"[user@node-3 llm]$", unknown, State::unknown},
        Row{"[user@node-3 llm]$", total, State::finished},
        Row{"Warning: destroy_process_group() was not called before program exit", before,
            State::unknown},
        Row{"Warning: process group has NOT been destroyed before we destruct it", before,
            State::unknown},
        Row{"Warning: destroy_process_group() was not called before program exit", total,
            State::finished},
        Row{"Resource usage summary:", total, State::finished},
        Row{"nothing of interest", total, State::finished},
        Row{"nothing of interest", before, State::unknown},
        Row{"Final model saved to out/final", before, State::finished},
        Row{"Training took 3:12:05", unknown, State::finished},
        Row{"wandb: Waiting for W&B process to finish... (success).", before, State::finished},
        Row{"State: COMPLETED (exit code 0)", unknown, State::finished},
        Row{"The job finished successfully", unknown, State::finished}}) {
    CAPTURE(row.line);
    const Report report = ended([&](MadeJob& job) {
      reach(job, row.reached);
      job.say(0, {row.line, Level::unknown}, 21'100);
    });
    CHECK(report.verdict.state == row.state);
    if (row.state == State::crashed) {
      CHECK(report.verdict.confidence < 0.75);
      REQUIRE_FALSE(report.events.empty());
      CHECK(report.events.front().text == row.line);
      CHECK(report.events.front().role == Role::root);
    }
  }
}

TEST_CASE("verdict: an end that is said to be a good one is none where something fails behind it") {
  for (const char* word : {"The job finished successfully", "Training took 3:12:05"}) {
    CAPTURE(word);
    const Report report = ended([&](MadeJob& job) {
      reach(job, wire::Reach::total);
      job.say(0, {word, Level::unknown}, 21'100);
      job.say(0, {"terminate called after throwing an instance of 'c10::Error'", Level::unknown},
              22'000);
    });
    CHECK(report.verdict.state == State::crashed);
  }
}

TEST_CASE("verdict: a hang behind the last iteration is one of the last save, of that iteration") {
  faults::Fault watchdog = fault("watchdog", Level::error, "collective operation timeout");
  watchdog.consequence = watchdog.timeout = true;
  const auto library = faults::Library().with({watchdog});
  MadeJob job(1);
  for (int k = 1; k <= 9; ++k)
    job.iterate(0, k, std::nullopt).reach = k < 9 ? wire::Reach::before : wire::Reach::total;
  job.say(0, {"Watchdog caught collective operation timeout", Level::error});
  job.say(0, {"terminate called after throwing an instance of 'std::runtime_error'"});
  Options options;
  options.library = &library;
  const Report report = diagnose(job.state(), {}, options).report;
  CHECK(report.verdict.state == State::hung);
  CHECK(report.verdict.stage == Stage::checkpoint_save);
  CHECK(report.verdict.iteration == Iteration{9});
}

TEST_CASE("verdict: kind 'stuck in the last save': words for the end of the training end no save") {
  for (const char* trouble : {"nfs: server nas3 not responding, still trying",
                              "INFO: task python:4711 blocked for more than 120 seconds",
                              "lustre: the service is in recovery"})
    for (const bool ends : {false, true}) {
      CAPTURE(trouble);
      MadeJob job(1);
      for (int k = 1; k <= 20; ++k)
        job.iterate(0, k, k * 1000).reach = k < 20 ? wire::Reach::before : wire::Reach::total;
      job.say(0, {"training is done", Level::unknown, wire::kMarkFinished}, 20'100);
      job.say(0, {"saving the last checkpoint"}, 20'200).stage = Stage::checkpoint_save;
      wire::SourceDefinition& kernel = job.add_source(0);
      kernel.kind = wire::SourceKind::kernel;
      for (int minute = 1; minute < 50; ++minute)
        job.say_on(0, kernel.id, {trouble, Level::error}, 20'000 + minute * 60'000);
      if (ends) job.say(0, {"Job 4711 completed successfully"}, 3'100'000);
      const Report report = diagnose(job.state(), {}, {}).report;
      CHECK((report.verdict.state == State::hung) == !ends);
      CHECK((report.verdict.state == State::finished) == ends);
      if (!ends) CHECK(report.verdict.stage == Stage::checkpoint_save);
    }
}

TEST_CASE("verdict: kind 'failed at the end': a pause behind the last iteration is no hang") {
  for (const char* text :
       {"FileNotFoundError: converter/quantize is missing", "OSError: [Errno 28] No space left",
        "RuntimeError: the exported graph does not match"})
    for (const bool complete : {true, false}) {
      CAPTURE(text);
      MadeJob job(1);
      for (int k = 1; k <= 9; ++k)
        job.iterate(0, k, k * 1000).reach =
            k < 9 || !complete ? wire::Reach::before : wire::Reach::total;
      job.say(0, {text, Level::error}, 400'000);
      const Report report = diagnose(job.state(), {}, {}).report;
      CHECK(report.verdict.state == (complete ? State::crashed : State::hung));
    }
}

TEST_CASE("verdict: kind 'harmless warning': what most jobs survive makes no hang of a silence") {
  const auto library = faults::Library().with({fault("fresh", Level::warning, "could not find")});
  for (const char* text :
       {"could not find a saved state in ckpt/latest", "tracker could not find its cache",
        "loader could not find the index, one is built"})
    for (const bool at_work : {true, false}) {
      CAPTURE(text);
      MadeJob job(1);
      job.iterate_all(1, 30);
      job.say(0, {text, Level::warning}, 4'000'000);
      std::string line = "reads";
      for (int i = 0; at_work && i < 200; ++i) {
        job.say(0, {line}, 4'001'000);
        line = i % 20 == 0 ? "reads" : line + " more";
      }
      Options options;
      options.library = &library;
      const Report report = diagnose(job.state(), {}, options).report;
      CHECK(report.verdict.state == (at_work ? State::unknown : State::hung));
      CHECK(report.events.empty() == at_work);
    }
}

TEST_CASE("verdict: kind 'lost peer': the last lines say that a peer is gone, and nobody more") {
  for (const char* line : {"Call to write failed : Connection reset by peer",
                           "socket closed by remote host", "broken pipe to rank 3"}) {
    CAPTURE(line);
    faults::Fault lost = fault("lost", Level::warning, line);
    lost.consequence = lost.accuses_peer = true;
    const auto library = faults::Library().with({lost});
    const auto say = [&](MadeJob& job) { job.say(0, {line, Level::error}, 20'100); };
    CHECK(ended(say, &library).verdict.state == State::crashed);
    const auto go_on = [&](MadeJob& job) {
      say(job);
      job.iterate(0, 21, 21'000);
      job.iterate(0, 22, 22'000);
    };
    CHECK(ended(go_on, &library).verdict.state == State::unknown);
    const auto warn = [&](MadeJob& job) { job.say(0, {line, Level::warning}, 20'100); };
    CHECK(ended(warn, &library).verdict.state == State::unknown);
  }
}

TEST_CASE("verdict: kind 'stopped': who stopped the job leads, and is in the first sentence") {
  for (const char* line : {"KeyboardInterrupt", "Training interrupted by user",
                           "TERM_RUNLIMIT: job killed after reaching LSF run time limit"}) {
    CAPTURE(line);
    const auto library = faults::Library().with({stop(line, "somebody")});
    for (const bool buffered : {false, true}) {
      CAPTURE(buffered);
      const Report report = ended(
          [&](MadeJob& job) {
            job.say(0, {line, Level::unknown}, 20'100);
            job.say(1, {"RuntimeError: DataLoader worker is killed", Level::error}, 20'200);
            if (buffered) job.iterate(0, 21, 20'300);
          },
          &library);
      CHECK(report.verdict.state == State::crashed);
      CHECK(report.verdict.summary.find("stopped by somebody") != std::string::npos);
      REQUIRE_FALSE(report.events.empty());
      CHECK(report.events.front().text == line);
    }
  }
}

TEST_CASE("verdict: a log that ends with a stop which the program caught is of a job that ended") {
  const auto library = faults::Library().with({stop("asked to leave", "somebody")});
  for (const char* line : {"asked to leave, closing gracefully", "UserWarning: asked to leave",
                           "trainer: was asked to leave by the operator"}) {
    CAPTURE(line);
    const auto say = [&](MadeJob& job) { job.say(0, {line, Level::warning}, 20'100); };
    CHECK(ended(say, &library).verdict.state == State::crashed);
    const auto works_on = [&](MadeJob& job) {
      say(job);
      for (int i = 0; i < 30; ++i) job.say(0, {"writing shard"}, 20'200 + i);
    };
    CHECK(ended(works_on, &library).verdict.state != State::crashed);
  }
}

TEST_CASE(
    "verdict: kind 'tidied up': new words of a program that closes what it used fail nobody") {
  const auto end = [](MadeJob& job) {
    for (const int rank : {0, 1}) {
      job.say(rank, {"average time of a step: <*> s"}, 20'100);
      job.say(rank, {"drawing the plots"}, 20'200);
      job.say(rank,
              {"Warning: WARNING: destroy_process_group() was not called before program exit"},
              20'300);
    }
  };
  CHECK(ended(end).verdict.state == State::finished);
  const auto fails = [&](MadeJob& job) {
    job.say(0, {"RuntimeError: cannot draw", Level::error}, 20'050);
    end(job);
  };
  CHECK(ended(fails).verdict.state == State::crashed);
}

TEST_CASE("verdict: kind 'asked to end': a program that says so was stopped, and that line leads") {
  for (const std::string line : {"Received SIGTERM, saving and leaving", "stop signal received",
                                 "time limit almost reached, writing a checkpoint"}) {
    CAPTURE(line);
    const auto leaves = [&](MadeJob& job) {
      for (const int rank : {0, 1}) {
        job.say(rank, {line}, 20'100);
        job.say(rank, {"writing what there is to out/last"}, 20'200);
        job.say(rank, {"bye"}, 20'300);
      }
    };
    const Report report = ended(leaves);
    CHECK(report.verdict.state == State::crashed);
    REQUIRE(!report.events.empty());
    CHECK(report.events.front().text == line);
    const auto kept = [&](MadeJob& job) {
      job.say(0, {"Final model saved to out/final"}, 20'050);
      job.say(0, {line}, 20'100);
    };
    CHECK(ended(kept).verdict.state == State::finished);
    const auto goes_on = [&](MadeJob& job) {
      job.say(0, {line}, 20'100);
      job.iterate(0, 21, 21'000);
      job.iterate(0, 22, 22'000);
    };
    CHECK(ended(goes_on).verdict.state == State::unknown);
  }
}

TEST_CASE("verdict: a stop behind another failure is its consequence") {
  const auto library = faults::Library().with({stop("KeyboardInterrupt", "somebody")});
  const Report report = ended(
      [](MadeJob& job) {
        job.say(1, {"RuntimeError: shapes differ", Level::error}, 20'100);
        job.say(0, {"KeyboardInterrupt", Level::unknown}, 25'000);
      },
      &library);
  CHECK(report.verdict.state == State::crashed);
  CHECK(report.verdict.summary.find("stopped by") == std::string::npos);
  REQUIRE_FALSE(report.events.empty());
  CHECK(report.events.front().text == "RuntimeError: shapes differ");
}

/// A job of four ranks that trained for 20 s, of which `end` prints the last lines.
State waited(const std::function<void(MadeJob&)>& end, std::int64_t looked_at = 0,
             const faults::Library* library = nullptr) {
  MadeJob job(4);
  job.iterate_all(1, 20);
  end(job);
  Options options;
  options.library = library;
  if (looked_at > 0) options.as_of = job::test::after(looked_at);
  return diagnose(job.state(), {}, options).report.verdict.state;
}

TEST_CASE("verdict: kind 'left behind': peers that complain minutes later waited") {
  for (const char* text : {"RuntimeError: the sampler lost its index", "E: kernel launch refused",
                           "fatal: device 3 does not answer"})
    for (const int minutes : {0, 10}) {
      CAPTURE(text);
      CAPTURE(minutes);
      const State state = waited([&](MadeJob& job) {
        job.say(1, {text, Level::fatal}, 20'500);
        for (const int rank : {0, 2, 3})
          job.say(rank, {"allreduce failed", Level::fatal}, 20'900 + minutes * 60'000);
      });
      CHECK(state == (minutes == 0 ? State::crashed : State::hung));
    }
}

TEST_CASE("verdict: kind 'unended': one rank fails, and minutes later nothing has ended") {
  for (const char* text : {"RuntimeError: the sampler lost its index", "E: kernel launch refused",
                           "fatal: device 3 does not answer"}) {
    CAPTURE(text);
    const auto fail = [&](MadeJob& job) { job.say(1, {text, Level::fatal}, 20'500); };
    CHECK(waited(fail) == State::crashed);  // how long it has been quiet nobody knows
    CHECK(waited(fail, 60'000) == State::crashed);
    CHECK(waited(fail, 320'000) == State::hung);
    CHECK(waited(fail, 40'000'000) == State::crashed);  // nobody waits that long
    const auto end = [&](MadeJob& job) {
      fail(job);
      job.say(0, {"process 4711 ended with exit code 1", Level::error}, 21'000);
    };
    CHECK(waited(end, 320'000) == State::crashed);
  }
}

TEST_CASE("verdict: kind 'stood until a limit': what failed at an unknown time was still there") {
  faults::Fault limit = fault("limit", Level::error, "cancelled at its time limit");
  limit.stopped_by = "a time limit";
  const auto library = faults::Library().with({limit});
  for (const char* text :
       {"fatal: invalid usage", "fatal: peer list is empty", "fatal: no device of that name"})
    for (const int minutes : {2, 30}) {
      CAPTURE(text);
      CAPTURE(minutes);
      const State state = waited(
          [&](MadeJob& job) {
            for (const int rank : {0, 1, 2, 3}) job.say(rank, {text, Level::fatal});
            job.say(0, {"job 17 cancelled at its time limit", Level::error},
                    20'500 + minutes * 60'000);
          },
          0, &library);
      CHECK((state == State::hung) == (minutes == 30));
    }
}

TEST_CASE("verdict: kind 'missed': that a peer is gone is noticed late, a wait takes its time") {
  for (const char* text : {"task 1 connected anew, it has likely restarted",
                           "lost the connection to peer 1", "member 1 has left the group"})
    for (const bool timeout : {false, true}) {
      CAPTURE(text);
      CAPTURE(timeout);
      faults::Fault gone = fault("gone", Level::error, text);
      gone.consequence = gone.accuses_peer = true;
      gone.timeout = timeout;
      const auto library = faults::Library().with({gone});
      const State state = waited(
          [&](MadeJob& job) {
            for (const int rank : {0, 1, 2, 3}) job.say(rank, {text, Level::fatal}, 120'000);
          },
          0, &library);
      CHECK((state == State::hung) == timeout);
    }
}

TEST_CASE("verdict: kind 'too young': a job of seconds did not wait for minutes") {
  for (const char* text : {"the store has no root info: wait failed", "no answer from the master",
                           "barrier of the start was not reached"})
    for (const int seconds : {20, 600}) {
      CAPTURE(text);
      CAPTURE(seconds);
      faults::Fault wait = fault("wait", Level::fatal, text);
      wait.consequence = wait.timeout = true;
      const auto library = faults::Library().with({wait});
      MadeJob job(4);
      for (const int rank : {0, 1, 2, 3}) {
        job.say(rank, {"reads the settings", Level::info}, 1'000);
        job.say(rank, {text, Level::fatal}, seconds * 1'000);
      }
      Options options;
      options.library = &library;
      CHECK((diagnose(job.state(), {}, options).report.verdict.state == State::hung) ==
            (seconds == 600));
    }
}

}  // namespace
}  // namespace l4::diagnose
