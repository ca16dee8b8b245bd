#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "aggregator/fetch/lines.h"
#include "aggregator/serve/utf8.h"
#include "common/base/earliest.h"

namespace l4::fetch {
namespace {

using wire::LinesFile;

/// Facts about one log of an agent.
struct Log {
  LinesFile file;
  std::set<std::string> nodes;  // the nodes of all its sources
  LinesSource source;           // the wanted sources
  bool wanted = false, one_rank = true;
};

/// The logs of one agent that a question is about.
class Logs {
 public:
  Logs(const LinesQuery& query, const std::set<std::uint32_t>& locals)
      : query_(query), locals_(locals) {}

  void add(const job::Stream& stream) {
    const wire::SourceDefinition& source = stream.source;
    Log& log = logs_[source.path];
    log.nodes.insert(source.node);
    const bool asked = (query_.node.empty() || source.node == query_.node) &&
                       (!query_.rank || source.rank == query_.rank);
    if (!asked) {
      log.file.everyone = false;
      return;
    }
    add_speaker(log.file, source);
    if (!query_.template_id) {
      want(log, source);
      return;
    }
    for (const auto& [local, stats] : stream.events) {
      if (!locals_.contains(local) || stats.count == 0) continue;
      want(log, source);
      log.file.counted += stats.count;
      const std::optional<TimeMs> last = stats.last_time;
      keep_latest(log.file.last, last);
    }
  }

  void move_to(AgentQuestion& asked) {
    for (auto& [path, log] : logs_) {
      if (!log.wanted) continue;
      log.file.path = path;
      log.file.hosts = log.nodes.size() > 1;
      if (log.file.everyone) log.file.speakers.clear();
      if (!log.one_rank) log.source.rank.reset();
      asked.question.files.push_back(std::move(log.file));
      asked.sources.push_back(std::move(log.source));
    }
  }

 private:
  static void add_speaker(LinesFile& file, const wire::SourceDefinition& source) {
    const wire::LinesSpeaker speaker{source.rank, source.local_rank, source.node};
    if (file.speakers.size() < wire::kLinesSpeakersMax &&
        std::ranges::find(file.speakers, speaker) == file.speakers.end())
      file.speakers.push_back(speaker);
  }
  static void want(Log& log, const wire::SourceDefinition& source) {
    if (!log.wanted) log.source = {source.node, source.rank};
    if (log.source.rank != source.rank) log.one_rank = false;
    log.wanted = true;
  }

  const LinesQuery& query_;
  const std::set<std::uint32_t>& locals_;
  std::map<std::string, Log> logs_;
};

/// The local ids of an agent's templates of this class.
std::set<std::uint32_t> locals_of(const job::AgentSlice& agent, job::TemplateTable& templates,
                                  TemplateId wanted) {
  std::unordered_map<std::uint32_t, bool> known;
  std::set<std::uint32_t> locals;
  for (const auto& [source, stream] : agent.streams)
    for (const auto& [local, stats] : stream.events) {
      const auto [place, first] = known.try_emplace(local, false);
      if (!first) continue;
      place->second = templates.canonical(
                          templates.resolve(agent.node_index, LocalTemplateId{local})) == wanted;
      if (place->second) locals.insert(local);
    }
  return locals;
}

/// The part of a question that is the same for all agents.
wire::LinesQuestion common_part(const LinesQuery& query, const LinesOptions& options) {
  wire::LinesQuestion question;
  question.job = query.job;
  question.around = query.around;
  question.context = static_cast<std::uint32_t>(query.context);
  question.timeout_ms = static_cast<std::uint32_t>(options.timeout.count() * 4 / 5);
  return question;
}

/// Logs beyond the bounds are left out and reported.
void bound(LinesPlan& plan, const LinesOptions& options) {
  if (plan.agents.size() > options.agents_max) {
    plan.missing.push_back({wire::LinesGapKind::limit_agents,
                            {},
                            {},
                            {},
                            fmt::format("{} agents have such logs, and {} are asked; name a node "
                                        "or a rank",
                                        plan.agents.size(), options.agents_max)});
    plan.agents.resize(options.agents_max);
  }
  for (AgentQuestion& asked : plan.agents) {
    if (asked.question.files.size() <= wire::kLinesFilesMax) continue;
    plan.missing.push_back({wire::LinesGapKind::limit_agents,
                            asked.agent,
                            {},
                            {},
                            fmt::format("{} logs are on this node, and {} are asked for",
                                        asked.question.files.size(), wire::kLinesFilesMax)});
    asked.question.files.resize(wire::kLinesFilesMax);
    asked.sources.resize(wire::kLinesFilesMax);
  }
}

}  // namespace

LinesPlan plan_lines(const scoring::LiveJob& job, const LinesQuery& query,
                     const LinesOptions& options) {
  LinesPlan plan;
  job::TemplateTable& templates = job.state().templates();
  const wire::LinesQuestion common = common_part(query, options);
  for (const auto& [name, agent] : job.state().agents()) {
    AgentQuestion asked{name, common, {}};
    std::set<std::uint32_t> locals;
    if (query.template_id) {
      const TemplateId wanted = templates.canonical(*query.template_id);
      locals = locals_of(agent, templates, wanted);
      if (locals.empty()) continue;
      for (const std::uint32_t local : locals)
        if (const auto called = job.lineage().called(name, LocalTemplateId{local});
            called && asked.question.templates.size() < wire::kLinesTemplatesMax)
          asked.question.templates.push_back(*called);
      asked.question.texts.push_back(templates.text(wanted));
    }
    Logs logs(query, locals);
    for (const auto& [source, stream] : agent.streams) logs.add(stream);
    logs.move_to(asked);
    if (!asked.question.files.empty()) plan.agents.push_back(std::move(asked));
  }
  bound(plan, options);
  const std::size_t agents = std::max<std::size_t>(plan.agents.size(), 1);
  for (AgentQuestion& asked : plan.agents) {
    asked.question.lines_max =
        static_cast<std::uint32_t>(std::max<std::size_t>(query.limit / agents, 1));
    asked.question.bytes_max = options.answer_bytes_max / agents;
  }
  return plan;
}

std::string audit_text(const LinesQuery& query,
                       const std::expected<LinesResult, LinesProblem>& of) {
  const auto shown = [](const std::string& text) { return serve::cut(serve::harmless(text), 80); };
  std::string text = fmt::format("raw lines: {} at {} asked for job={}",
                                 query.who.empty() ? "somebody without a token" : shown(query.who),
                                 shown(query.peer), shown(query.job));
  if (query.template_id) text += " template=" + to_string(*query.template_id);
  if (!query.node.empty()) text += " node=" + shown(query.node);
  if (query.rank) text += fmt::format(" rank={}", query.rank->value());
  if (query.around) text += " around=" + to_rfc3339(*query.around);
  text += fmt::format(" context={} limit={}: ", query.context, query.limit);
  if (of)
    return text + fmt::format("{} lines, {} bytes, of {} of {} agents, {} redacted, {} gaps, {} ms",
                              of->lines.size(), of->text_bytes, of->agents_answered,
                              of->agents_asked, of->redacted, of->missing.size(), of->took.count());
  switch (of.error().kind) {
    case LinesProblem::Kind::busy:
      return text + "refused, too many questions";
    case LinesProblem::Kind::no_job:
      return text + "there is no such job";
    case LinesProblem::Kind::nothing:
      break;
  }
  return text + "the job has no such log";
}

}  // namespace l4::fetch
