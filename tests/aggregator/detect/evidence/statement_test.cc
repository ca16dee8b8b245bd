// What a text states, and what it only mentions. Each row of the tables works in its example.
#include "aggregator/detect/evidence/statement.h"

#include <doctest/doctest.h>

#include <string>

#include "aggregator/detect/evidence/wording.h"

namespace l4::detect {
namespace {

Severity heard(std::string_view text) {
  return severity_of(text, Level::unknown);
}

TEST_CASE("every row of the tables of words makes its example a mention") {
  for (const auto rows : {supposing_words(), denying_words(), dealing_words()})
    for (const FormRow& row : rows) {
      CAPTURE(row.word);
      CAPTURE(row.example);
      CHECK(heard(row.example) < Severity::failure);
    }
}

TEST_CASE("every row of the words of guesses makes its example a guess") {
  for (const FormRow& row : guessing_words()) {
    CAPTURE(row.example);
    CHECK(find_guess(row.example).has_value());
  }
}

TEST_CASE("every row of the words of waits makes its example one") {
  for (const FormRow& row : waiting_words()) {
    CAPTURE(row.example);
    CHECK(states_wait(row.example));
  }
  for (const std::string_view text :
       {"This may cause a timeout of 600 s", "ran without any timeout", "Waits at most 600 s"}) {
    CAPTURE(text);
    CHECK_FALSE(states_wait(text));
  }
}

TEST_CASE("every row of the openings of code has a line of code") {
  for (const FormRow& row : code_openings()) {
    CAPTURE(row.example);
    CHECK(is_code(row.example));
    CHECK(heard(row.example) == Severity::none);
  }
}

TEST_CASE("a list of possible causes states none of them") {
  struct Row {
    std::string_view text, facts;
  };
  for (const Row& row : {
           Row{"Worker exits with code 2. End of file. There are some potential root causes. (1) "
               "The "
               "process is killed by SIGKILL. (2) It crashed by SIGSEGV.",
               "Worker exits with code 2. End of file."},
           Row{"A worker of the pool ended. This could be caused by a segmentation fault while "
               "calling the function or by the kernel.",
               "A worker of the pool ended."},
           Row{"The node missed heartbeats. This can happen when (1) the daemon crashed (2) the "
               "network is slow",
               "The node missed heartbeats."},
           Row{"Lost the child. Possible reasons: out of memory, bus error", "Lost the child."},
           Row{"The shard is gone; it may have been killed by SIGKILL, or the node panicked",
               "The shard is gone;"},
           Row{"rank left: either it was killed or the link failed. Exit code 3 was seen",
               "rank left: Exit code 3 was seen"},
       }) {
    CAPTURE(row.text);
    const auto guess = find_guess(row.text);
    REQUIRE(guess.has_value());
    std::string facts = guess->facts;
    while (facts.ends_with(' ')) facts.pop_back();
    CHECK(facts == row.facts);
    CHECK_FALSE(guess->causes.empty());
  }
  for (const std::string_view text :
       {"Process 41213 was killed by SIGKILL", "CUDA error: out of memory",
        "It is possible that the workers of the loader are out of shared memory",
        "Tried the first or the second host and could not connect to either"}) {
    CAPTURE(text);
    CHECK_FALSE(find_guess(text).has_value());
  }
}

TEST_CASE("source code that a traceback quotes is no message") {
  for (const std::string_view text :
       {"raise ValueError(f\"{name} failed: {reason}\")", "    return abort_all(error, timeout)",
        "except (OSError, TimeoutError) as failure:", "if not torch.isfinite(loss): # nan:",
        "self._engine.check_failed(state, \"nan\")", "error = queue.get_exception(",
        "File \"/opt/x/errors.py\", line 12, in raise_error", "            ^^^^^^^^^^^^^^",
        "import torch.distributed.elastic.multiprocessing.errors"}) {
    CAPTURE(text);
    CHECK(is_code(text));
    CHECK(heard(text) == Severity::none);
  }
  for (const std::string_view text :
       {"ValueError: no such key", "ray.exceptions.RayTaskError(KeyError): ray::Trainer.fit()",
        "RuntimeError('CUDA error: device lost')", "return code = 1", "assertion failed",
        "from node 7: connection refused", "with error code 5 the rank failed",
        "loader.prefetch(): Killed by the kernel", "step = 12 failed"}) {
    CAPTURE(text);
    CHECK_FALSE(is_code(text));
  }
}

TEST_CASE("kind: a line of code in a diff is no message, and an item of a list is one") {
  for (const std::string_view text :
       {"-                raise EnvironmentError(f'{self.path} exists')",
        "+        except RuntimeError as failure:", "+    # the old one crashed",
        "-  assert not failed, \"aborted\""}) {
    CAPTURE(text);
    CHECK(is_code(text));
    CHECK(heard(text) == Severity::none);
  }
  for (const std::string_view text :
       {"- rank 3 failed: no space left", "+ error: the link is down", "--- aborted ---"}) {
    CAPTURE(text);
    CHECK_FALSE(is_code(text));
    CHECK(heard(text) >= Severity::failure);
  }
}

TEST_CASE("kind: a line of code in a diff is code where its blanks have become one") {
  for (const std::string_view text :
       {"- raise EnvironmentError(f'Run dir \"{self.path}\" exists')",
        "+ #raise OSError(\"disk failed\")",
        "+ except ConnectionError as crash:", "- assert state != \"failed\", \"aborted\"",
        "+ # if error_code > 0:", "- return self.fail(\"crashed\")"}) {
    CAPTURE(text);
    CHECK(is_code(text));
    CHECK(heard(text) == Severity::none);
  }
  for (const std::string_view text :
       {"- raise the limit, the job crashed", "+ error: the link is down", "- rank_3 failed",
        "- if it fails again: the disk failed", "+ ValueError: no such key"}) {
    CAPTURE(text);
    CHECK_FALSE(is_code(text));
  }
}

TEST_CASE("kind: the name of a measure and a cell of a table are no failure") {
  for (const std::string_view text :
       {"rotation error@0.5, 1.0 | recall", "head: error@top5 <*>", "val/failure@<*>: 0.2",
        "0.41 nan, nan | 0.38", "<*> nan <*>, NaN | <*>", "nan, nan | 0.2"}) {
    CAPTURE(text);
    CHECK(heard(text) < Severity::failure);
  }
  for (const std::string_view text :
       {"error @ node-3: the link is down", "loss: nan, grad norm: nan", "step 12 loss nan",
        "loss is nan"}) {
    CAPTURE(text);
    CHECK(heard(text) >= Severity::failure);
  }
}

TEST_CASE("kind: a frame of a native stack says nothing, whatever its level") {
  for (const std::string_view text :
       {"PC: @     0x7f94a6f26117  (unknown)  raise", "    @     0x55d1c0 abort_handler",
        "@ <*> (unknown) signal", "PC: @ (nil) (unknown)",
        "[E <*> logging.cc:<*> PC: @ <*> (unknown)", "[E <*> logging.<*> @ <*> (unknown)",
        "E <*> crash.<*>     @ <*> abort", "[W <*> stack.cc:<*> @ (nil) signal"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::error) == Severity::none);
  }
  CHECK(severity_of("user@host: access denied", Level::error) >= Severity::failure);
}

TEST_CASE("settings that are printed are no failure") {
  for (const std::string_view text :
       {"  timeout: 1800", "\"overflow\": false,", "nccl_timeout = 600", "skip_on_error ..... None",
        "--exit-on-missing-checkpoint", "Namespace(abort_on_nan=True, max_errors=5)",
        "overflow cond: False, loss: <*>", "error_file: <N/A>", "on_timeout: abort_all",
        "module path torch.distributed.elastic.multiprocessing.errors", "errors: 0, warnings: 3",
        "timeout .......... <*>"}) {
    CAPTURE(text);
    CHECK(heard(text) < Severity::failure);
  }
  for (const std::string_view text :
       {"error: could not open the file", "Timeout: the peer did not answer", "exitcode : -7",
        "status: failed", "Signal: Bus error (7)", "socket.timeout: timed out"}) {
    CAPTURE(text);
    CHECK(heard(text) >= Severity::failure);
  }
}

TEST_CASE("what is supposed, denied, advised or dealt with did not happen") {
  for (const std::string_view text :
       {"If the job runs out of memory, lower the batch", "Larger inputs may exceed it and crash",
        "Set it to 1 to avoid deadlocks and timeouts", "installed the exception handler",
        "error checking is on", "The check didn't fail", "no rank was killed",
        "you might get a RuntimeError: use the other call", "process 77 exited with code 0",
        "child exitcode: 0"}) {
    CAPTURE(text);
    CHECK(heard(text) < Severity::failure);
  }
  for (const std::string_view text :
       {"could not reach node 7", "If you read this, the rank crashed", "rank <*> failed",
        "Loading failed when opening the shard", "process 77 exited with code 10",
        "not all ranks answered: connection lost", "health check failed"}) {
    CAPTURE(text);
    CHECK(heard(text) >= Severity::failure);
  }
}

TEST_CASE("kind: a measure that is named after an error is no failure") {
  for (const char* text : {"***bus error@trans, scale, orient | AP@0.5, 1.0", "top error@5: 0.073",
                           "| class | failure@10 | recall@10 |", "** fatal@stop, lost@turn"})
    CHECK(heard(text) == Severity::none);
  CHECK(heard("bus error @ 0x7f3a") == Severity::fatal);
}

TEST_CASE("kind: a missing value of a table or a list is no failure") {
  for (const char* text : {"0.23, nan, nan | 0.00, 3.2, 10.1 | mean AP: 0.070",
                           "IoU [0.58 nan 0.76]", "| wall | 81.2 | nan |", "nan, 0.4, 0.7",
                           "<*> nan, nan | <*> | mean AP: <*>", "per class: 0.1, NaN, 0.9"})
    CHECK(heard(text) == Severity::none);
  for (const char* text : {"loss: nan, lr: 0.1", "loss nan", "step 3 | loss nan | lr 1e-4",
                           "gradient norm is NaN", "NaN in layer 3", "{'loss': nan, 'lr': 0.1}"})
    CHECK(heard(text) == Severity::failure);
}

TEST_CASE("an exception stands at the front of its line") {
  for (const std::string_view text :
       {"ValueError: x", "[rank3]: torch.cuda.OutOfMemoryError: y",
        "Traceback (most recent call last):", "worker 3 - KeyError: 'a'"})
    CHECK(says_at_front(text));
  for (const std::string_view text :
       {"and then the user gets a ValueError: x from the model", "Connection lost",
        "the answer is that Python raises KeyError: for a missing key"})
    CHECK_FALSE(says_at_front(text));
}

}  // namespace
}  // namespace l4::detect
