// What `--help` says beside the list of options.
#pragma once

namespace l4::commands {

inline constexpr auto kAbout =
    "Says why a large training job crashed, hung or slowed down, and where it began,\n"
    "from the logs of its ranks.";

inline constexpr auto kFooter = R"(Examples:
  l4 diagnose /logs/job-4711                    what happened to this job
  l4 diagnose job.tar.gz --history good-run     compared with a run that went well
  kubectl logs worker-3 | l4 diagnose -         one log, as it is at hand
  l4 inspect /logs/job-4711                     what is there, and how it is read
  dmesg | l4 faults match -                     which lines show a known fault
  l4 jobs                                       running jobs, where l4-aggregator watches

'l4 COMMAND --help' says more about a command.)";

inline constexpr auto kDiagnoseFooter = R"(What a PATH may hold:
  NODE/rankK.log, torchrun's log folders, Slurm's output, worker-K.log, NeMo's and
  MPI's rank files, Ascend's plog, Kubernetes pod logs, NCCL debug files, dmesg, and
  any other text, also packed (gzip, zstd). Where the node and rank are not
  recognised, --layout says how paths name them; 'l4 inspect' shows how they are read.

Examples:
  l4 diagnose /logs/job-4711
  l4 diagnose /logs/job-4711 --history /logs/job-4690 --history /logs/job-4688
  l4 diagnose /logs/job-4711 --format json --out report.json --lines lines.tsv
  l4 diagnose /logs/job-4711 --as-of 2026-11-20T16:30:00Z
  l4 diagnose /logs/job-4711 --layout '{node}/out.{rank}.txt'

Exit status:
  0   diagnosed; warnings tell of input that could not be read
  2   wrong use, or output that cannot be written
  3   nothing could be read
  10  with --exit-code: a failure was found

Environment:
  L4_CONFIG_DIR  folder that holds frameworks/ and faults/
  TMPDIR         where archives and standard input are unpacked (default: /tmp)
  NO_COLOR       if set, no colours)";

inline constexpr auto kCheckConfigFooter =
    R"(What a file names is looked at, too: keys, tokens, rule packs, faults. Nothing is started.

Examples:
  l4 check-config /etc/l4/agent.toml /etc/l4/aggregator.toml
  l4 check-config --as agent half-written.toml

Exit status:
  0   all can be used
  2   wrong use, or one cannot be used; it is said why, with file, line and key)";

inline constexpr auto kHistoryHelp =
    "a healthy run of the same kind of job: what it printed\n"
    "is normal; may be repeated";
inline constexpr auto kLayoutHelp =
    "how paths name things: {node} {rank} {local_rank}\n"
    "{attempt} {job}, {*} for anything";
inline constexpr auto kAsOfHelp =
    "when the logs were looked at, as RFC 3339 or seconds\n"
    "since 1970 (default: the newest line or file time)";
inline constexpr auto kZoneHelp =
    "zone of times printed without one: +02:00, UTC,\n"
    "Europe/Berlin (default: UTC)";
inline constexpr auto kScoringHelp =
    "paper is the published method to the letter, for\n"
    "comparison (default: l4)";
inline constexpr auto kThreadsHelp =
    "worker threads (default: all cores); the report is\n"
    "the same for any number";
inline constexpr auto kLinesHelp =
    "write every line that shows the failure here, as rows\n"
    "of file, line number, template id and score";

inline constexpr auto kParseFooter =
    R"(Lines of all files are numbered on from 1. A row is the line's number, a tab, and the
id of its template (16 hexadecimal digits); JSON has the templates, too. A line is the
message itself: times and prefixes are not taken off.

Exit status:
  0   parsed; files that cannot be read are named
  2   wrong use, or output that cannot be written
  3   nothing could be read)";

inline constexpr auto kInspectFooter =
    R"(For each file: its node, what kind of log it is, its ranks and lines, the format of its
times and how many lines have one, and the line that marks an iteration. Use it where a
report names wrong nodes or ranks, and see --layout.

Exit status:
  0   here it is; warnings tell of input that could not be read
  2   wrong use
  3   nothing could be read)";

}  // namespace l4::commands
