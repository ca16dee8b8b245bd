// How bad a line sounds.
#include "aggregator/detect/evidence/wording.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::detect {
namespace {

struct Row {
  const char* text;
  Severity severity;
};

TEST_CASE("words alone") {
  for (const Row& row : {
           Row{"RuntimeError: CUDA error: an illegal memory access was encountered",
               Severity::fatal},
           Row{"Memory access fault by GPU node-<*> on address <*>", Severity::fatal},
           Row{"MMU fault queue may be overflowed: engine <*>", Severity::fatal},
           Row{"traps: python[<*>] general protection fault ip:<*>", Severity::fatal},
           Row{"Major (requiring I/O) page faults: 0", Severity::none},
           Row{"torch.cuda.OutOfMemoryError: CUDA out of memory.", Severity::fatal},
           Row{"Traceback (most recent call last):", Severity::fatal},
           Row{"terminate called after throwing an instance of 'c10::Error'", Severity::fatal},
           Row{"Signal <*> (SIGKILL) received by PID <*>", Severity::fatal},
           Row{"slurmstepd: error: *** STEP <*> ON node CANCELLED AT <*> ***", Severity::fatal},
           Row{"OSError: No space left on device", Severity::fatal},
           Row{"Connection reset by peer", Severity::failure},
           Row{"Watchdog caught collective operation timeout", Severity::failure},
           Row{"Failed to connect to <*>", Severity::failure},
           Row{"NVRM: Xid (PCI:<*>): 79", Severity::failure},
           Row{"loss is nan", Severity::failure},
           Row{"retrying in <*> s", Severity::notice},
           Row{"slow batch: data loading took <*> ms", Severity::notice},
           Row{"file not found, using the default", Severity::notice},
           Row{"iteration <*> done, loss <*>", Severity::none},
           Row{"", Severity::none},
       }) {
    CAPTURE(row.text);
    CHECK(severity_of(row.text, Level::unknown) == row.severity);
  }
}

TEST_CASE("words that only mention a failure") {
  for (const char* text :
       {"found 8 shards, 0 errors in manifest", "finished with no errors", "No error was found",
        "error_if_nonfinite=False", "max_failed=3", "nanoseconds per token: <*>", "banana split",
        "terror of the seas", "finance department", "unexpectation"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::unknown) < Severity::failure);
  }
}

TEST_CASE("who goes on, and a command of a script that ended, are no failure") {
  for (const char* text :
       {"Cannot initialize CollNet, using point-to-point network instead",
        "Unable to find hostfile, will proceed with training with local resources only.",
        "Failed to import the fused kernel, falling back to the plain one",
        "could not read the cache: IGNORED", "modprobe: FATAL: Module amdgpu not found"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::unknown) == Severity::notice);
    CHECK(severity_of(text, Level::warning) == Severity::notice);
  }
  CHECK(severity_of("modprobe: FATAL: Module amdgpu not found", Level::fatal) == Severity::notice);
  CHECK(severity_of("cannot be ignored", Level::error) == Severity::failure);
  CHECK(severity_of("FATAL: no such module", Level::unknown) == Severity::fatal);
}

TEST_CASE("kind: a program that was asked for something and ended is not the one that asked") {
  for (const char* text :
       {"ERROR: git describe exited with status <*>", "'nvidia-smi' failed with exit code 9",
        "probe: \"lspci\" ended badly, return code = 127"}) {
    CAPTURE(text);
    CHECK(tells_of_asked(text));
    CHECK(severity_of(text, Level::error) == Severity::notice);
  }
  for (const char* text : {"train.py exited with exit code 1", "/home/git/run.sh exit code 1",
                           "digit 3 exited with code 1", "git pull"})
    CHECK_FALSE(tells_of_asked(text));
}

TEST_CASE("kind: a program that stops itself for a failure that it names has failed") {
  for (const char* text :
       {"Loss became nan at <*>, stopping", "gradient overflow, giving up training",
        "Invalid batch of rank <*> found: exiting now"}) {
    CAPTURE(text);
    CHECK(stops_for_failure(text));
    CHECK(severity_of(text, Level::unknown) == Severity::fatal);
  }
  for (const char* text :
       {"Early stopping: the error did not improve", "loss is fine, stopping after <*> steps",
        "Stops if the loss is nan", "patience is over, validation error flat, stopping"})
    CHECK_FALSE(stops_for_failure(text));
}

TEST_CASE("kind: who tries again has not given up, even at error level") {
  for (const char* text :
       {"upload to bucket failed: ConnectionResetError: peer closed it, retrying in <*> s",
        "TimeoutError while reading shard <*> will retry (attempt <*> of <*>",
        "requests.exceptions.ConnectionError: tracker is down, next attempt in <*> seconds",
        "metrics server refused the batch: OSError: [Errno <*>] trying again"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::error) == Severity::failure);
    CHECK(severity_of(text, Level::unknown) == Severity::notice);
  }
  CHECK(severity_of("MaxRetryError: Max retries exceeded", Level::error) == Severity::fatal);
}

TEST_CASE("the kind of an exception is its name and how its message begins") {
  CHECK(exception_kind("ValueError: step <*> - no answer in: <think> one") ==
        exception_kind("[rank3]: ValueError: step <*> - no answer in: some other text"));
  CHECK(exception_kind("KeyError: 'a'") != exception_kind("KeyError: 'b'"));
  CHECK(exception_kind("ERROR:Traceback (most recent call last):") == kTracebackHead);
  CHECK(exception_kind("Traceback (most recent call last):") == kTracebackHead);
  CHECK(exception_kind("worker> KeyError: 'a'") == "KeyError: 'a'");
  CHECK(exception_kind("it ended with a KeyError: 'a'").empty());
  CHECK(exception_kind("loss 1.2").empty());
}

TEST_CASE("kind: an exception without a message ends the program like any other") {
  for (const char* text :
       {"StopIteration", "queue.Empty", "GeneratorExit", "my_app.jobs.EarlyStop",
        "gzip.BadGzipFile: CRC is 0x1f, not 0x83", "store.client.NoAnswer: page 3",
        "my_app.feed.PageGone: page 7 of the store"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::error) == Severity::fatal);
    CHECK(severity_of(text, Level::unknown) == Severity::none);
  }
  CHECK(severity_of("Trainer is late", Level::error) == Severity::failure);
  CHECK(severity_of("ABC", Level::error) == Severity::failure);
}

TEST_CASE("case does not matter") {
  for (const char* text : {"FATAL: giving up", "fatal: giving up", "Fatal: giving up"})
    CHECK(severity_of(text, Level::unknown) == Severity::fatal);
  CHECK(severity_of("CONNECTION REFUSED", Level::unknown) == Severity::failure);
}

TEST_CASE("a printed level bounds what the words say") {
  const char* bad = "RuntimeError: Traceback of a fatal error";
  const char* good = "all is well";
  CHECK(severity_of(good, Level::fatal) == Severity::fatal);
  CHECK(severity_of(good, Level::error) == Severity::failure);
  CHECK(severity_of(bad, Level::error) == Severity::fatal);
  CHECK(severity_of(good, Level::warning) == Severity::notice);
  CHECK(severity_of(bad, Level::warning) == Severity::failure);
  for (const Level level : {Level::info, Level::debug, Level::trace}) {
    CHECK(severity_of(bad, level) == Severity::notice);
    CHECK(severity_of(good, level) == Severity::none);
  }
}

TEST_CASE("kind: a line of nothing but the place that printed it says nothing") {
  for (const char* place : {"[ProcessGroupNCCL.cpp:<*>]", "[store.cc:91] ", "[fabric/ring.py:<*>]"})
    CHECK(severity_of(place, Level::error) == Severity::none);
  for (const char* text : {"[rank <*>]", "[store.cc:91] gone", "[abc]"})
    CHECK(severity_of(text, Level::error) >= Severity::failure);
}

TEST_CASE("a graver level never makes a line less grave") {
  for (const char* text : {"RuntimeError: x", "connection refused", "retrying", "all is well", ""})
    for (int level = static_cast<int>(Level::trace); level < static_cast<int>(Level::fatal);
         ++level) {
      CAPTURE(text);
      CHECK(severity_of(text, static_cast<Level>(level)) <=
            severity_of(text, static_cast<Level>(level + 1)));
    }
}

}  // namespace
}  // namespace l4::detect
