// A question for raw lines over HTTP, the agents to ask, and the result.
//
// Flow: lines_api.cc reads a LinesQuery -> plan_lines, on the thread that owns the job ->
// LinesBoard, on the receive thread, which asks the agents -> LinesResult -> JSON. Values and a
// pure function.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/scoring/live_job.h"
#include "common/wire/lines.h"

namespace l4::fetch {

struct LinesOptions {
  std::size_t questions_max = 8;  ///< questions that are answered at a time
  std::size_t agents_max = 64;    ///< agents that are asked for one question
  std::uint64_t answer_bytes_max = 8u << 20;
  Millis timeout{20'000};
};

struct LinesQuery {
  std::string job, node;  ///< node: empty for any
  std::optional<TemplateId> template_id;
  std::optional<Rank> rank;
  std::optional<TimeMs> around;
  std::size_t context = 5, limit = 200;
  std::string who, peer;  ///< the client: name of the token, address
};

/// The speakers of each requested log, by place in LinesQuestion::files.
struct LinesSource {
  std::string node;
  std::optional<Rank> rank;
};

struct AgentQuestion {
  std::string agent;
  wire::LinesQuestion question;
  std::vector<LinesSource> sources;
};

/// The reason why lines are missing from the answer. `agent` is empty if it holds for all agents.
struct LinesMissing {
  wire::LinesGapKind kind = wire::LinesGapKind::other;
  std::string agent, node, file, text;
};

struct LinesPlan {
  std::vector<AgentQuestion> agents;  ///< by name; empty: there is no such template, node or rank
  std::vector<LinesMissing> missing;
};

struct GivenLine {
  std::string agent, node, file;
  std::optional<Rank> rank;
  std::uint64_t number = 0, offset = 0;  ///< number: 0 if it is not known
  std::optional<TimeMs> time;
  std::string text;
  bool hit = false, cut = false;
};

struct LinesResult {
  std::vector<GivenLine> lines;  ///< by agent and log, then in the order of the text
  std::vector<LinesMissing> missing;
  std::size_t agents_asked = 0, agents_answered = 0;
  std::uint64_t bytes_read = 0, redacted = 0, text_bytes = 0;
  Millis took{0};
};

struct LinesProblem {
  enum class Kind : std::uint8_t { busy, no_job, nothing };
  Kind kind = Kind::busy;
};
using LinesThen = std::function<void(std::expected<LinesResult, LinesProblem>)>;

/// Counts of questions and lines since the start.
struct LinesCounts {
  std::uint64_t questions = 0, refused = 0, lines = 0, bytes = 0, incomplete = 0;
};

LinesPlan plan_lines(const scoring::LiveJob& job, const LinesQuery& query,
                     const LinesOptions& options);

/// The line for the log: client, question, and size of the answer; safe for a terminal.
std::string audit_text(const LinesQuery& query, const std::expected<LinesResult, LinesProblem>& of);

}  // namespace l4::fetch
