#include "aggregator/detect/evidence/ending.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>

#include "aggregator/detect/evidence/wording.h"
#include "aggregator/numbers/evidence.h"
#include "common/base/ascii.h"

namespace l4::detect {
namespace {

constexpr std::array<EndingForm, 62> kForms{{
    {Ending::gone,
     "leaked {semaphore|shared_memory|shared memory|folder|file}*clean up at *shutdown",
     "resource_tracker: There appear to be 56 leaked semaphore objects to clean up at shutdown"},
    {Ending::gone, "leaked {semaphore|shared_memory|shared memory|folder|file}*cleaned up",
     "There are 2 leaked folder objects that were cleaned up by the tracker"},
    {Ending::asked,
     "{received|caught|got|handling|handled|intercepted|trapped|detected} {|a |an |the }"
     "{|termination |exit |stop |shutdown |preemption |external }"
     "{signal|sigterm|sigusr1|sigusr2|sigint|sighup|sigquit|preemption}",
     "Received SIGTERM (preemption), saving checkpoint and exiting"},
    {Ending::asked,
     "{exit|termination|stop|shutdown|preemption|sigterm|sigusr1|sigusr2|sighup|signal 1|signal 2|"
     "signal 10|signal 12|signal 15} {|signal |notice |event }{|was }{received|caught|detected}",
     "Preemption notice received from the metadata server, 30 s left"},
    {Ending::asked,
     "{exiting|stopping|leaving|terminating|quitting|shutting down} "
     "*{after|because|due to|on|upon} *{sigterm|sigusr1|sigusr2|signal|preemption|time "
     "limit|walltime|wall time}",
     "exiting program at iteration 300 because a SIGTERM was received"},
    {Ending::asked,
     "{time limit|time-limit|walltime|wall time} {|is |was }{approaching|almost|nearly|near|close}",
     "[SIGUSR1] time limit approaching, checkpointing and requeueing job 8812"},
    {Ending::asked, "approaching {|the }{|job |wall |slurm }{time limit|time-limit|walltime}",
     "Approaching the wall time limit, saving and leaving"},
    {Ending::asked, "spot {|instance }{interruption|termination|preemption}",
     "spot interruption notice: instance will be terminated in 120 s"},
    {Ending::asked,
     "{host|node|machine|instance|vm} will {|be }{terminated|preempted|reclaimed|evicted|go down|"
     "shut down}",
     "maintenance event: host will go down"},
    {Ending::asked,
     "{job|run|training|allocation} {timed out|is out of time|ran out of time|time is up}*"
     "{saving|save|checkpoint|requeue|exit|stop}",
     "[EXIT HANDLER] Job timed out, saving checkpoint."},
    {Ending::asked, "line <*>{|:} <*> {terminated|hangup|user defined signal} ",
     "run_train.sh: line <*>: <*> Terminated              python main.py --num <*>"},
    {Ending::asked, "stop file *{found|exists|detected}",
     "stop file /run/stop found, exiting after step 299"},
    {Ending::badly, "w&b process to finish*(failed",
     "wandb: Waiting for W&B process to finish... (failed 1). Press Control-C to abort syncing."},
    {Ending::badly, "program failed with code",
     "wandb: Program failed with code 255.  Press ctrl-c to abort syncing."},
    {Ending::badly,
     "{job|vcjob|workload|workflow|trial|experiment|submission|allocation|run|application} "
     "*{failed|aborted|errored}$",
     "AzureMLCompute job failed."},
    {Ending::badly, "{job|workload|workflow|trial|experiment|run} failed{, see |: submitted }",
     "Workload failed, see run output for details"},
    {Ending::badly, "{jobfailed|userscriptexception|executeuserscripterror}:",
     "JobFailed: Submitted script failed, see the driver log"},
    {Ending::badly, "{reporting|reported} {training|job|run} failure",
     "sagemaker-training-toolkit ERROR Reporting training FAILURE"},
    {Ending::badly,
     "{job|run|training|script|application|task|workflow} {finished|ended|completed}"
     "{: | with |: with | with status | with final status: | with state }{failed|failure|killed}",
     "torchx 2024-05-02 ERROR Job finished: FAILED"},
    {Ending::badly, "failed with result", "coqui.service: Failed with result 'oom-kill'."},
    {Ending::badly, "abnormal termination (", "(1) Abnormal termination (signal 9)"},
    {Ending::badly, "{non-zero|nonzero} {exit |return |}{code|status}",
     "The replica workerpool0-0 exited with a non-zero status of 1. See the logs"},
    {Ending::badly, "failed with {return|exit} {code|codes|status}",
     "ERROR: Job 1 failed with return code list: [1]"},
    {Ending::badly, "^{make|gmake|ninja}* error <*>$", "make: [Makefile:12: train] Error <*>"},
    {Ending::badly, "^subject: job *exited$", "Subject: Job 4711: <train> in cluster <hpc> Exited"},
    {Ending::badly, "{jobstate|state|status}{=|: |:}{failed|timeout|node_fail|out_of_memory}",
     "JobState=FAILED Reason=NonZeroExitCode"},
    {Ending::well, "w&b process to finish*(success",
     "wandb: Waiting for W&B process to finish... (success)."},
    {Ending::badly, "{running|pending|ready|active} {to|->|=>} {failed|error|evicted}",
     "[worker-5][status_update][Running to Failed]"},
    {Ending::badly, "{podfailed|podevicted|pod failed|pod evicted|taskfailed}",
     "sync job default/llm, Event:PodFailed, ExitCode:137"},
    {Ending::well, "^successfully completed$", "Successfully completed."},
    {Ending::well, "^subject: job *done$", "Subject: Job 4711: <train> in cluster <hpc> Done"},
    {Ending::well, "{jobstate|state|status|result}{=|: |:}{completed|succeeded|success}",
     "State: COMPLETED (exit code 0)"},
    {Ending::well, "training {success|succeeded}", "toolkit INFO Reporting training SUCCESS"},
    {Ending::well,
     "{job|jobs|pytorchjob|rayjob|run|training|program|script|process|processes|worker|workers|"
     "task|tasks|pod|pods|experiment|trial|launcher|command|execution|agent|group}*"
     "{ended|finished|completed|complete|exited|exits|terminated|done} {successfully|normally|"
     "cleanly|without error|with success}",
     "PyTorchJob train-7b is successfully completed; all workers finished successfully"},
    {Ending::well,
     "{job|jobs|pytorchjob|rayjob|run|training|program|script|process|processes|worker|workers|"
     "task|tasks|pod|pods|experiment|trial|launcher|command|execution|agent|group}*"
     "{successfully ended|successfully finished|successfully completed|succeeded}",
     "Job 'raysubmit_x1' succeeded"},
    {Ending::left, "^sender: lsf system", "Sender: LSF System <lsfadmin@n1>"},
    {Ending::left, "^resource usage summary", "Resource usage summary:"},
    {Ending::left, "^{resources|resources_}{ |}used", "Resources Used: cput=01:02:03,mem=12kb"},
    {Ending::left, "epilogue", "===== Epilogue of job 4711.server ====="},
    {Ending::left, "^*.sh: {|all }{done|finished|completed}$", "local/chain/run_tdnn.sh: done."},
    {Ending::left, "^logout$", "logout"},
    {Ending::left, "^connection to *closed$", "Connection to node-3 closed."},
    {Ending::left, "^[{<|1|2|3|4|5|6|7|8|9}*{>|]}{+|-|} {done|exit|killed|terminated|aborted}",
     "[1]+  Done                    nohup python train.py > train.log 2>&1"},
    {Ending::left, "^{job|script|program|the job} *{ended|finished|completed|done|exited}",
     "Job 4711 finished at Tue Mar  4 09:20:20 UTC 2025"},
    {Ending::left, "^{end|ended|finished|finish}{ time| at| date| of job| of script}",
     "End time: Tue Mar  4 09:20:20 UTC 2025"},
    {Ending::tidied, "destroy_process_group() was not called before program exit",
     "Warning: WARNING: destroy_process_group() was not called before program exit"},
    {Ending::tidied, "find logs at: ", "wandb: Find logs at: wandb/run-20241008/logs"},
    {Ending::tidied, "group has not been destroyed before",
     "Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL."},
    {Ending::kept,
     "{saved|saving} {the |}{final|fully trained|finetuned|fine-tuned} "
     "{model|checkpoint|weights|adapter|lora|ckpt}",
     "Saving final checkpoint to out/step_2500"},
    {Ending::kept, "final {model|checkpoint|weights|adapter|ckpt}*{saved|written|stored|exported}",
     "Final model saved to out/final"},
    {Ending::kept,
     "{model|adapter|checkpoint|weights|policy} {pushed|uploaded|pushed successfully} to ",
     "Model pushed to https://huggingface.co/user/policy"},
    {Ending::kept, "^*train metrics$", "***** train metrics *****"},
    {Ending::kept, "{early stopping|early stop|stopping early|stopping training}",
     "Early stopping at epoch 31: no improvement for 5 epochs"},
    {Ending::kept, "run summary:", "wandb: Run summary:"},
    {Ending::kept,
     "^{*|=|-|#}*{ |*|=|-|#}{summary over|summary of|training summary|run summary|final summary|"
     "benchmark summary}",
     "=== Summary over 20 iterations ==="},
    {Ending::kept,
     "{total|e2e|e<*>e|end-to-end|overall}{ "
     "|_}{training|pretraining|pre-training|finetuning|fine-tuning|"
     "train|run|elapsed|wall|wall clock}{ |_}{time|runtime|duration}",
     "Total training time: 3:07:42"},
    {Ending::kept,
     "^{training|pretraining|fine-tuning|trainer} {took|time|duration|finished|complete|done|ended|"
     "over|ends|is done|is over|is complete|has finished|has ended}",
     "Training took 01:45:11.12"},
    {Ending::kept,
     "^{train|train job|training job|training|pretraining|fine-tuning|finetuning|solving|"
     "optimization|optimisation|fitting|learning} {done|success|succeeded|successful|finished|"
     "completed|complete|ended|is done|is over|is complete|is finished|has finished|has ended}$",
     "[INFO]: train job success!"},
    {Ending::kept, "^{*|=|-|#}*{ |*|=|-|#}{end|end of} {training|evaluation|testing}",
     "*****End evaluation kitti_models/second(default)*****"},
    {Ending::kept, "^training * {finished|completed|done}$", "training AGCN finished"},
    {Ending::kept,
     "^end of {training|the training|fine-tuning|finetuning|pretraining|run|the run}$",
     "End of training"},
    {Ending::kept,
     "{final eval|final evaluation|final test|final testing|final validation|eval final|evaluation "
     "final|test final}{ finished| done| complete| took| result| results| metrics| score| "
     "accuracy| acc|_acc|_accuracy|_loss|_score|]|:}",
     "[Eval FINAL]: {'rmse': 0.018}"},
}};

bool is_of_word(char c) {
  return is_name_letter(c) || is_digit(c);
}

/// Characters of `text` that a piece without `*` covers at its begin; none if it does not stand
/// there.
std::optional<std::size_t> covered(std::string_view piece, std::string_view text) {
  std::size_t at = 0;
  for (const char c : piece) {
    const std::size_t before = at;
    if (c == ' ')
      while (at < text.size() && is_blank(text[at])) ++at;
    else if (at < text.size() && lower(text[at]) == c)
      ++at;
    if (at == before) return std::nullopt;
  }
  return at;
}

/// Letters with which a text begins that follows the form, one bit for each; 0: it may begin
/// otherwise.
constexpr std::uint32_t initials_of(std::string_view form) {
  const bool choices = form.starts_with('{');
  std::uint32_t letters = 0;
  bool first = true;
  for (const char c : form.substr(choices ? 1 : 0)) {
    if (first && !is_lower(c)) return 0;
    if (first) letters |= 1U << (c - 'a');
    first = c == '|';
    if (!choices || c == '}') break;
  }
  return letters;
}

bool is_among(char c, std::uint32_t letters) {
  return is_letter(c) && (letters >> (lower(c) - 'a') & 1) != 0;
}

/// `text` begins with the form.
bool follows(std::string_view form, std::string_view text) {
  if (form.empty()) return true;
  if (form.front() == '$') return text.find_first_not_of(" \t.!\"'*=-") == text.npos;
  if (form.front() == '*') {
    const std::string_view rest = form.substr(1);
    const std::uint32_t initials = initials_of(rest);
    for (std::size_t i = 0; i <= std::min(text.size(), numbers::evidence().ending_gap_max); ++i) {
      if (initials != 0 && (i == text.size() || !is_among(text[i], initials))) continue;
      if (follows(rest, text.substr(i))) return true;
    }
    return false;
  }
  if (form.front() != '{') {
    const std::size_t end = std::min(form.find_first_of("{*$"), form.size());
    const auto length = covered(form.substr(0, end), text);
    return length && follows(form.substr(end), text.substr(*length));
  }
  const std::size_t close = form.find('}');
  std::string_view choices = form.substr(1, close - 1);
  for (bool more = true; more;) {
    const std::size_t bar = choices.find('|');
    const auto length = covered(choices.substr(0, bar), text);
    if (length && follows(form.substr(close + 1), text.substr(*length))) return true;
    more = bar != choices.npos;
    if (more) choices.remove_prefix(bar + 1);
  }
  return false;
}

/// The forms that may begin with any word, one bit for each, by the first letter of that word: most
/// words of a line begin none.
constexpr auto kFormsByInitial = [] {
  static_assert(kForms.size() <= 64);
  std::array<std::uint64_t, 26> forms{};
  for (std::size_t k = 0; k < kForms.size(); ++k) {
    if (kForms[k].form.front() == '^') continue;
    for (std::size_t letter = 0; letter < forms.size(); ++letter)
      if ((initials_of(kForms[k].form) >> letter & 1) != 0) forms[letter] |= std::uint64_t{1} << k;
  }
  return forms;
}();
static_assert(std::ranges::all_of(kForms, [](const EndingForm& form) {
  return form.form.front() == '^' || initials_of(form.form) != 0;
}));

std::uint64_t forms_begun_by(char c) {
  const int letter = lower(c) - 'a';
  return letter >= 0 && letter < 26 ? kFormsByInitial[static_cast<std::size_t>(letter)] : 0;
}

template <std::size_t N>
bool holds_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

/// A condition or a plan: the end has not come.
bool only_speaks_of(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {" if ", " until ", " unless ", " when ", " once ", " will ", "expected ", " should ",
       " wait ", "waiting for all", " per "});
  return holds_any(text, kWords);
}

/// What the program would do, or does not.
bool only_may_be_asked(std::string_view text) {
  constexpr auto kWords =
      std::to_array<std::string_view>({" if ", " until ", " unless ", " when ", " once ", "ignor",
                                       " not ", " never ", " no ", "signals"});
  return begins_lower(text, "no ") || holds_any(text, kWords);
}

/// "ot_train.py:<*>", "trainer.cc:214": the place in the source that a logger prints.
bool is_source_place(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos || colon + 1 == word.size()) return false;
  const std::size_t dot = word.substr(0, colon).rfind('.');
  if (dot == word.npos || dot == 0 || dot + 1 == colon) return false;
  const std::string_view suffix = word.substr(dot + 1, colon - dot - 1);
  const std::string_view line = word.substr(colon + 1);
  return std::ranges::all_of(suffix, is_letter) &&
         (line == "<*>" || std::ranges::all_of(line, is_digit));
}

/// The message of a logger begins here: "LOGS    - Training took ..", "[main] Total ..", "INFO ..",
/// "[INFO]: ..", "INFO train.py:214 ..".
bool is_behind_front(std::string_view text, std::size_t at) {
  if (at < 2 || !is_blank(text[at - 1])) return false;
  if (text[at - 2] == '-' || text[at - 2] == ']') return true;
  if (at > 2 && text[at - 2] == ':' && text[at - 3] == ']') return true;
  const std::string_view front = text.substr(0, text.find_last_not_of(" \t", at - 1) + 1);
  if (is_source_place(front.substr(front.find_last_of(" \t") + 1))) return true;
  return !front.empty() && front.size() < at && std::ranges::all_of(front, is_upper);
}

/// The first of the forms that stands anywhere in the text.
Ending by_form(std::string_view text) {
  std::size_t best = kForms.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begin = i == 0 || is_behind_front(text, i);
    if (!begin && is_of_word(text[i - 1])) continue;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - kForms.size());
    std::uint64_t forms = begin ? all : forms_begun_by(text[i]);
    for (; forms != 0; forms &= forms - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(forms));
      if (k >= best) break;
      const bool anchored = kForms[k].form.front() == '^';
      if (follows(kForms[k].form.substr(anchored ? 1 : 0), text.substr(i))) best = k;
    }
  }
  return best < kForms.size() ? kForms[best].ending : Ending::none;
}

}  // namespace

std::span<const EndingForm> ending_forms() {
  return kForms;
}

std::optional<int> exit_code_in(std::string_view text) {
  constexpr auto kBefore = std::to_array<std::string_view>(
      {"exited with ", "exit code", "exit status", "exit value", "exitcode", "exit_code",
       "exit_status", "exit-code", "return code", "return_code", "returncode", "return status",
       "return value"});
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != 'e' && lower(text[i]) != 'r') continue;
    if (i > 0 && is_of_word(text[i - 1])) continue;
    for (const std::string_view before : kBefore) {
      const auto length = covered(before, text.substr(i));
      if (!length) continue;
      std::string_view rest = text.substr(i + *length);
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t:=([\"'<"), rest.size()));
      for (const std::string_view word : {"status ", "code ", "is ", "of ", "with "})
        if (begins_lower(rest, word)) rest.remove_prefix(word.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(" =:"), rest.size()));
      int code = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), code);
      const std::string_view behind(end, rest.data() + rest.size());
      const bool whole =
          behind.empty() ||
          (behind[0] == '.' ? behind.size() == 1 || behind[1] == ' ' : !is_of_word(behind[0]));
      if (error == std::errc{} && whole) return code;
    }
  }
  return std::nullopt;
}

/// Environment in parentheses, then user and host, then the folder, then the sign of the prompt.
bool has_prompt(std::string_view text) {
  if (text.starts_with('(')) {
    const std::size_t close = text.find(") ");
    if (close == text.npos) return false;
    text.remove_prefix(close + 2);
  }
  const bool bracket = text.starts_with('[');
  if (bracket) text.remove_prefix(1);
  const auto is_name = [](char c) { return is_of_word(c) || c == '-' || c == '.'; };
  std::size_t at = 0;
  while (at < text.size() && is_name(text[at])) ++at;
  if (at == 0 || at == text.size() || text[at] != '@') return false;
  const std::size_t host = ++at;
  while (at < text.size() && is_name(text[at])) ++at;
  if (at == host || at == text.size() || text[at] != (bracket ? ' ' : ':')) return false;
  at = text.find_first_of(bracket ? "]" : "#$%", at + 1);
  if (at == text.npos) return false;
  if (bracket && (++at == text.size() || std::string_view("#$%").find(text[at]) == text.npos))
    return false;
  return at + 1 == text.size() || is_blank(text[at + 1]);
}

Ending ending_of(std::string_view text) {
  constexpr auto kDenials = std::to_array<std::string_view>({"not ", " before "});
  if (has_prompt(text)) return Ending::left;
  Ending ending = by_form(text);
  if (const auto code = exit_code_in(text); code && !tells_of_asked(text))
    ending = *code == 0 ? Ending::well : Ending::badly;
  if (ending == Ending::none || ending == Ending::gone) return ending;
  if (ending == Ending::badly && tells_of_asked(text)) return Ending::none;
  if (ending == Ending::asked) return only_may_be_asked(text) ? Ending::none : ending;
  // "Loss is nan, stopping training": what stopped it was a failure.
  if (ending == Ending::kept && stops_for_failure(text)) return Ending::none;
  const bool denied = ending != Ending::left && ending != Ending::tidied &&
                      !text.contains(" not improve") && holds_any(text, kDenials);
  return denied || only_speaks_of(text) ? Ending::none : ending;
}

}  // namespace l4::detect
