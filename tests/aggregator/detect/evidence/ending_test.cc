// What lines say about the end.
#include "aggregator/detect/evidence/ending.h"

#include <doctest/doctest.h>

#include "aggregator/detect/evidence/wording.h"

namespace l4::detect {
namespace {

struct EndRow {
  const char* text;
  Ending ending;
};

TEST_CASE("endings: each form reads its own example") {
  for (const EndingForm& form : ending_forms()) {
    CAPTURE(form.form);
    CHECK(ending_of(form.example) == form.ending);
  }
}

TEST_CASE("endings: a batch system, a launcher or a tracker says how it ended, in any wording") {
  for (const EndRow& row :
       {EndRow{"JobState=COMPLETED Reason=None Dependency=(null)", Ending::well},
        EndRow{"srun: Job step completed with exit code 0", Ending::well},
        EndRow{"[2025-03-04] launcher: worker group exited with exit status: 0", Ending::well},
        EndRow{"Ray job status: SUCCEEDED", Ending::well},
        EndRow{"pod/trainer-0: all processes exited cleanly", Ending::well},
        EndRow{"Exit_status=0 resources_used.walltime=01:02:03", Ending::well},
        EndRow{"run.sh finished, return code = 0", Ending::well},
        EndRow{"The command exited successfully.", Ending::well},
        EndRow{"job 17 failed: exit code: 137", Ending::badly},
        EndRow{"returned non-zero exit status 1.", Ending::badly},
        EndRow{"wandb: Waiting for W&B process to finish... (failed 255).", Ending::badly},
        EndRow{"State: FAILED", Ending::badly}}) {
    CAPTURE(row.text);
    CHECK(ending_of(row.text) == row.ending);
  }
}

TEST_CASE("endings: a program that leaves says who asked it to") {
  for (const EndRow& row :
       {EndRow{"trainer - INFO - Caught signal 15 (SIGTERM). Saving before exit.", Ending::asked},
        EndRow{"Got SIGUSR1: writing a checkpoint for the requeue", Ending::asked},
        EndRow{"[exiting program after receiving SIGTERM.] datetime: <*>", Ending::asked},
        EndRow{"shutdown signal received", Ending::asked},
        EndRow{"wall time is almost used up, stopping here", Ending::asked},
        EndRow{"EC2: this instance will be reclaimed in <*> seconds", Ending::asked},
        EndRow{"training ran out of time: writing a checkpoint and leaving", Ending::asked},
        EndRow{"/opt/job/run.sh: line <*>: <*> Hangup   torchrun train.py", Ending::asked},
        EndRow{"rendezvous of the job timed out", Ending::none},
        EndRow{"line 4: the sentence is terminated by a full stop", Ending::none},
        EndRow{"will leave when a SIGTERM is received", Ending::none},
        EndRow{"received SIGHUP, which is ignored", Ending::none},
        EndRow{"installed a handler for SIGTERM", Ending::none},
        EndRow{"no preemption notice received", Ending::none},
        EndRow{"received signals of 8 sensors", Ending::none},
        EndRow{"Early stopping: the loss did not improve for 10 checks", Ending::kept}}) {
    CAPTURE(row.text);
    CHECK(ending_of(row.text) == row.ending);
  }
}

TEST_CASE("endings: a process that is gone leaves traces, and so does one that ended") {
  for (const EndRow& row :
       {EndRow{"semaphore_tracker: There appear to be 6 leaked semaphores to clean up at shutdown",
               Ending::gone},
        EndRow{"There appear to be 1 leaked shared_memory objects to clean up at shutdown",
               Ending::gone},
        EndRow{"resource_tracker: There are 3 leaked semaphore objects to clean up at interpreter "
               "shutdown",
               Ending::gone},
        EndRow{"[user1@gpu-07 project]$", Ending::left},
        EndRow{"root@7f3c2a:/workspace# ls out", Ending::left},
        EndRow{"(base) user@host:~/llm$ nvidia-smi", Ending::left},
        EndRow{"logout", Ending::left},
        EndRow{"[1]-  Exit 1                  python train.py", Ending::left},
        EndRow{"[12]+ Killed                  ./train.sh", Ending::left},
        EndRow{"[<*> Done <*> torchrun <*>", Ending::left},
        EndRow{"Job 88123 ended at Mon Mar  3 11:00:00 CET 2025", Ending::left},
        EndRow{"Connection to 10.0.0.7 closed.", Ending::left},
        EndRow{"[Timing] final eval finished (Took 322.1s).", Ending::kept},
        EndRow{"Final test accuracy: 91.2", Ending::kept},
        EndRow{"=== Final evaluation results ===", Ending::kept},
        EndRow{"worker: final validation took 31 s", Ending::kept},
        EndRow{"Optimization done!", Ending::kept},
        EndRow{"[MAIN]: training job is finished.", Ending::kept},
        EndRow{"Fitting has ended ***", Ending::kept},
        EndRow{"Training ends after 7 passes", Ending::kept},
        EndRow{"INFO fit.py:<*> End of training", Ending::kept},
        EndRow{"WARN loop.cc:214 Training is over", Ending::kept},
        EndRow{"End of the run.", Ending::kept},
        EndRow{"Adapter uploaded to s3://models/a", Ending::kept},
        EndRow{"Weights pushed to the hub", Ending::kept},
        EndRow{"Final eval_loss: 1.732", Ending::kept}}) {
    CAPTURE(row.text);
    CHECK(ending_of(row.text) == row.ending);
  }
}

TEST_CASE("endings: what only sounds like an end is none") {
  for (const char* text : {"the job will be completed successfully if all ranks agree",
                           "step 100 loss 3.21",
                           "user@host.example is the contact",
                           "semaphore objects: 12",
                           "epoch 3 finished in 12 s",
                           "expected exit code 0",
                           "exit code 0x1f",
                           "saved model to out/step_100",
                           "[rank0]: ok",
                           "see root@node:/etc/hosts",
                           "total tokens: 12",
                           "not all workers finished successfully",
                           "finals of the test set",
                           "the final test will take long",
                           "final validated batch",
                           "waiting for all processes to have exited cleanly",
                           "train time: 12 s",
                           "solving 12 done of 30",
                           "fitting ends of tubes",
                           "at 12:30 end of training",
                           "Loss is inf or nan, stopping training",
                           "git fetch failed with exit code 128",
                           "[INFO] [train.py:138:each] [Rank 0] evaluating done in 0.434 s",
                           "[INFO] [train.py:<*>:each] [Rank <*> evaluating done in <*> s",
                           "[rank 3] compile + done",
                           "[trainer] exit criterion: 100 steps",
                           ""}) {
    CAPTURE(text);
    CHECK(ending_of(text) == Ending::none);
  }
}

TEST_CASE("endings: exit code 0 is no failure, any other is one") {
  for (const char* text : {"Process 12 exited with exit code 0", "Exit code: 0",
                           "LAUNCH INFO Exit code 0", "exited with code 0"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::unknown) == Severity::none);
    CHECK(exit_code_in(text) == 0);
  }
  for (const char* text : {"Process 12 exited with exit code 1", "exit code: -6",
                           "error: exit code 0 of 1, core dumped"}) {
    CAPTURE(text);
    CHECK(severity_of(text, Level::unknown) == Severity::fatal);
  }
  CHECK(exit_code_in("returned non-zero exit status 1.") == 1);
  CHECK(exit_code_in("return code = -9") == -9);
  CHECK(exit_code_in("exited with status code 1. Please check the log") == 1);
  CHECK_FALSE(exit_code_in("exit codes of all ranks"));
  CHECK_FALSE(exit_code_in("exit code 0.5"));
}

}  // namespace
}  // namespace l4::detect
