// The report: what happened to one job, as people and programs read it (docs/DESIGN.md, "Report").
//
// Flow: aggregator/diagnose fills it, aggregator/serve renders it as text or JSON. Plain values.
// Lists are complete, most telling first. Unknown values are empty and become `null`, no guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/diagnose/claims.h"
#include "aggregator/diagnose/clues/clue.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "common/wire/batch.h"

namespace l4::diagnose {

struct AttemptSummary {
  std::int32_t attempt = 0;
  State state = State::unknown;
  std::optional<TimeMs> since;
  std::optional<Iteration> iteration;
};

struct JobSummary {
  std::string id;
  std::int32_t attempt = 0;
  std::vector<AttemptSummary> attempts;
  std::uint64_t nodes = 0, ranks = 0, sources = 0, lines = 0, bytes = 0;
  std::optional<TimeMs> begin, end;
  double completeness = 1.0;  ///< bytes parsed / bytes known
};

struct Verdict {
  State state = State::unknown;
  Scope scope = Scope::unknown;
  std::optional<TimeMs> since;
  Stage stage = Stage::unknown;  ///< unknown is null in JSON
  std::optional<Iteration> iteration;
  double confidence = 0;          ///< P(state right)
  std::string summary;            ///< one sentence
  std::string_view because = {};  ///< ends the sentence of a job that did not fail
};

struct SuspectNode {
  std::string node;
  double score = 0, confidence = 0;  ///< confidence: P(this node is faulty)
  std::vector<Rank> ranks;
  std::optional<TimeMs> first_seen;
  std::vector<std::string> why;  ///< sentences
  std::vector<TemplateId> events;
};

enum class Process : std::uint8_t { unknown, alive, gone, stopped };

struct SuspectRank {
  std::optional<Rank> rank;  ///< null for launchers
  RankSource rank_source = RankSource::none;
  std::string node;
  double score = 0;
  std::optional<TimeMs> last_line;
  Process process = Process::unknown;
  std::vector<std::string> why;
};

enum class Why : std::uint8_t { fresh, spatial, temporal, first, fatal, accused, fault, stall };

struct ParameterCount {
  wire::ParameterKind kind = wire::ParameterKind::code;
  std::string value;
  std::uint64_t count = 0;
};

struct Example {
  std::string node;
  std::optional<Rank> rank;
  std::string file;
  std::uint64_t line = 0;
  std::string text;
};

struct FirstSeen {
  std::optional<TimeMs> time;
  std::string node;
  std::optional<Rank> rank;
};

struct IndicatingEvent {
  TemplateId id;
  std::string text;
  Role role = Role::direct;
  double score = 0;                  ///< orders events; no probability
  std::optional<double> confidence;  ///< of the first one: P(a line of it is one of the root)
  std::uint64_t count = 0;
  std::vector<std::string> nodes;
  std::vector<Rank> ranks;
  FirstSeen first;
  Stage stage = Stage::unknown;
  std::optional<Iteration> iteration;
  Level level = Level::unknown;
  std::vector<Why> why;
  std::vector<ParameterCount> parameters;
  std::vector<Example> examples;
};

struct ScoredIteration {
  Iteration iteration;
  double score = 0;
  std::optional<TimeMs> begin, end;
  std::vector<std::string> nodes;
  std::vector<TemplateId> events;
};

struct StageSpan {
  Stage stage = Stage::unknown;
  std::optional<TimeMs> begin, end;
  std::uint64_t ranks = 0;
};

inline constexpr std::string_view kUnknownFault = "unknown";  ///< id of a fault placed by likeness
struct KnownFault {
  std::string id, title, category;
  double confidence = 0;  ///< for kUnknownFault: P(category right)
  std::string cause, fix;
  std::vector<TemplateId> evidence;  ///< empty if the end of a process shows the fault
  std::string stopped_by = {};  ///< who or which limit stopped the job; part of the sentence alone
};

struct PoolUse {
  bool used = false;
  std::uint64_t jobs = 0, events_dropped = 0;
};

/// A number as a program printed it. NaN and the infinities are words in JSON, which has no numbers
/// for them.
struct Printed {
  double number = 0;
};

/// What differs and harms nothing: no state, no suspect and no alert follows from it.
struct Notable {
  std::string kind;  ///< docs/DESIGN.md, "Report", lists the kinds
  std::optional<std::string> node;
  std::optional<Rank> rank;
  std::optional<Iteration> iteration;  ///< from which on
  std::optional<std::string> phase;    ///< of an iteration, such as a timer's name
  std::optional<Printed> value, usual;
  std::uint64_t count = 0;  ///< iterations, lines or whatever else the text counts
  std::string text;         ///< one sentence
};

struct ClueFact {
  clues::FactKind kind = clues::FactKind::event;
  std::string value;  ///< as clues::text() gives it
};

/// One reason to suspect a rank or node, with what it was concluded from.
struct Clue {
  clues::ClueKind kind = clues::ClueKind::cause;
  std::optional<std::string> node;
  std::optional<Rank> rank;  ///< null for a launcher, or a clue against the whole node
  double strength = 0;       ///< what it adds to the score of its rank
  std::vector<ClueFact> facts;
  std::string text;  ///< what it says, without a subject
};
inline constexpr std::size_t kCluesMax = 256;

enum class Reply : std::uint8_t { answered, empty, late, off, refused };

/// How those who were asked for evidence replied: a row for each source, node and reply.
struct Asked {
  std::string source;               ///< files (logs)
  std::optional<std::string> node;  ///< null: of several nodes
  Reply reply = Reply::answered;
  std::uint64_t count = 0;  ///< of files or agents that replied so
  std::string text;         ///< why; empty where the reply needs no reason
};

/// How well the lines of one file, or of all, were understood. Null: not known, as of agents of
/// earlier versions.
struct Understood {
  std::uint64_t lines = 0;
  std::optional<double> timed, ranked, iterated;  ///< shares of the lines
  std::vector<std::string> formats;               ///< of the times
  std::vector<std::string> packs;                 ///< rule packs that knew a line
  std::uint64_t glued = 0;                        ///< lines found behind another text on its line
  std::uint64_t split = 0;                        ///< lines joined from several
};

struct SourceRead {
  std::string file, node;
  Understood understood;
  std::optional<std::string> marker, marker_why;  ///< the line that marks iterations
  std::vector<std::string> unused;                ///< what could not be used, and why
};

/// What was read: the sum, and the files that were understood worst, at most kSourcesReadMax.
struct ReadSummary {
  std::uint64_t files = 0;
  Understood understood;
  std::vector<SourceRead> sources;
};
inline constexpr std::size_t kSourcesReadMax = 64;

struct Report {
  std::string version, scoring = "l4";
  JobSummary job;
  Verdict verdict;
  std::vector<SuspectNode> nodes;
  std::vector<SuspectRank> ranks;
  std::vector<IndicatingEvent> events;
  std::vector<ScoredIteration> iterations;
  std::vector<StageSpan> stages;
  std::vector<KnownFault> faults;
  PoolUse pool;
  std::vector<wire::Warning> warnings;
  // From l4.report/2 on.
  std::vector<Notable> notable;
  std::optional<std::string> advice;  ///< what to do now, in a sentence
  std::vector<Clue> clues;            ///< strongest first, at most kCluesMax
  std::vector<Asked> evidence;
  ReadSummary read;
  std::vector<Certainty> certainty;  ///< a row a claim: state, first node, first event
};

std::string_view name(Why why);  ///< as in JSON; `fresh` is "new"
std::string_view name(Process process);
std::string_view name(Reply reply);
std::vector<wire::Parameter> parameters_of(const IndicatingEvent& event);

}  // namespace l4::diagnose
