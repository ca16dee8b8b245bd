#include "offline/lines_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>

#include "aggregator/job/job_state.h"

namespace l4::offline {
namespace {

struct Flagged {
  std::string file;
  std::uint64_t line;
  std::string id;
  double score;
  auto key() const { return std::tie(file, line, id); }
};

const wire::SourceDefinition& source_of(const Job& job, const std::string& agent, SourceId source) {
  return job.state->agents().at(agent).streams.at(source.value()).source;
}

/// The templates that events need from one agent; `events`: the events of each template.
struct AgentRequest {
  recall::Request request;
  std::vector<std::size_t> events;
};

/// One request per agent: templates of each event on the streams of its scope, of which the first
/// `streams_max` count.
std::map<std::string, AgentRequest> requests_of(const diagnose::Diagnosis& diagnosis,
                                                std::size_t streams_max) {
  std::map<std::string, AgentRequest> requests;
  for (std::size_t event = 0; event < diagnosis.scopes.size(); ++event) {
    const diagnose::EventScope& scope = diagnosis.scopes[event];
    for (const auto& stream : std::views::take(scope.streams, streams_max)) {
      auto& [request, events] = requests[stream.agent];
      // The templates of this event are the last ones.
      std::size_t at = request.wanted.size();
      while (at > 0 && events[at - 1] == event && request.wanted[at - 1].id != stream.local) --at;
      if (at == 0 || events[at - 1] != event) {
        request.wanted.push_back({stream.local, {}, scope.from});
        events.push_back(event);
        at = request.wanted.size();
      }
      request.wanted[at - 1].sources.push_back(stream.source);
    }
  }
  for (auto& [agent, asked] : requests)
    for (recall::Wanted& wanted : asked.request.wanted) std::ranges::sort(wanted.sources);
  return requests;
}

const agent::NodeAgent* find_agent(const Job& job, const std::string& name) {
  for (const auto& agent : job.agents)
    if (agent && agent->name() == name) return agent.get();
  return nullptr;
}

}  // namespace

void add_examples(diagnose::Diagnosis& diagnosis, const Job& job) {
  constexpr std::size_t kExamplesMax = 3;
  constexpr std::size_t kTextBytesMax = 400;
  constexpr std::uint64_t kBytesForMore = 256 * 1024;
  for (auto& [name, asked] : requests_of(diagnosis, kExamplesMax)) {
    const agent::NodeAgent* agent = find_agent(job, name);
    if (agent == nullptr) continue;
    asked.request.lines_per_template_max = kExamplesMax;
    asked.request.text_bytes_max = kTextBytesMax;
    asked.request.bytes_for_more = kBytesForMore;
    for (const recall::Hit& hit : agent->recall(asked.request)) {
      auto& examples = diagnosis.report.events[asked.events[hit.wanted]].examples;
      if (examples.size() >= kExamplesMax) continue;
      const wire::SourceDefinition& source = source_of(job, name, hit.source);
      examples.push_back({source.node, source.rank, hit.file, hit.lines.front(), hit.text});
    }
  }
}

Result<void> write_lines(const diagnose::Diagnosis& diagnosis, const Job& job,
                         const std::filesystem::path& out) {
  std::vector<Flagged> rows;
  for (const auto& [name, asked] :
       requests_of(diagnosis, std::numeric_limits<std::size_t>::max())) {
    const agent::NodeAgent* agent = find_agent(job, name);
    if (agent == nullptr) continue;
    for (const recall::Hit& hit : agent->recall(asked.request)) {
      const diagnose::EventScope& scope = diagnosis.scopes[asked.events[hit.wanted]];
      for (const std::uint64_t line : hit.lines)
        rows.push_back({hit.file, line, to_string(scope.id), scope.score});
    }
  }
  std::ranges::sort(rows, {}, &Flagged::key);
  errno = 0;
  std::ofstream file(out, std::ios::binary);
  for (const Flagged& row : rows)
    file << fmt::format("{}\t{}\t{}\t{:.4f}\n", row.file, row.line, row.id, row.score);
  file.close();
  if (!file)
    return std::unexpected(
        Error{out.string(), std::string("cannot write the lines file: ") + std::strerror(errno)});
  return {};
}

}  // namespace l4::offline
