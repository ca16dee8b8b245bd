// The report: what happened to one job, as people and programs read it (docs/DESIGN.md, "Report").
//
// Flow: aggregator/diagnose fills it, aggregator/serve renders it as text or JSON. Plain values.
// Lists are complete, most telling first. Unknown values are empty and become `null`, no guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  double confidence = 0;  ///< P(state right)
  std::string summary;    ///< one sentence
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
  double score = 0;
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
};

struct PoolUse {
  bool used = false;
  std::uint64_t jobs = 0, events_dropped = 0;
};

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
};

std::string_view name(Why why);  ///< as in JSON; `fresh` is "new"
std::string_view name(Process process);
std::vector<wire::Parameter> parameters_of(const IndicatingEvent& event);

}  // namespace l4::diagnose
