#include "tools/l4/lines_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

namespace l4::cli {
namespace {

struct Flagged {
  std::string file;
  std::uint64_t line;
  std::string id;
  double score;
  auto key() const { return std::tie(file, line, id); }
};

const wire::SourceDefinition& source_of(const OfflineJob& job, const std::string& agent,
                                        SourceId source) {
  return job.state->agents().at(agent).streams.at(source.value()).source;
}

/// One request per agent: templates of one event on the streams of its scope.
std::map<std::string, recall::Request> requests_of(const diagnose::EventScope& scope) {
  std::map<std::string, recall::Request> requests;
  for (const auto& stream : scope.streams) {
    auto& wanted = requests[stream.agent].wanted;
    auto same = std::ranges::find(wanted, stream.local, &recall::Wanted::id);
    if (same == wanted.end()) same = wanted.insert(wanted.end(), {stream.local, {}, scope.from});
    same->sources.push_back(stream.source);
  }
  for (auto& [agent, request] : requests)
    for (recall::Wanted& wanted : request.wanted) std::ranges::sort(wanted.sources);
  return requests;
}

const agent::NodeAgent* find_agent(const OfflineJob& job, const std::string& name) {
  for (const auto& agent : job.agents)
    if (agent && agent->name() == name) return agent.get();
  return nullptr;
}

}  // namespace

void add_examples(diagnose::Diagnosis& diagnosis, const OfflineJob& job) {
  constexpr std::size_t kExamplesMax = 3;
  constexpr std::size_t kTextBytesMax = 400;
  for (std::size_t i = 0; i < diagnosis.scopes.size(); ++i) {
    auto& examples = diagnosis.report.events[i].examples;
    diagnose::EventScope scope = diagnosis.scopes[i];
    if (scope.streams.size() > kExamplesMax) scope.streams.resize(kExamplesMax);
    for (auto& [name, request] : requests_of(scope)) {
      const agent::NodeAgent* agent = find_agent(job, name);
      if (agent == nullptr || examples.size() >= kExamplesMax) continue;
      request.lines_per_template_max = kExamplesMax;
      request.text_bytes_max = kTextBytesMax;
      for (const recall::Hit& hit : agent->recall(request)) {
        if (examples.size() >= kExamplesMax) break;
        const wire::SourceDefinition& source = source_of(job, name, hit.source);
        examples.push_back({source.node, source.rank, hit.file, hit.lines.front(), hit.text});
      }
    }
  }
}

Result<void> write_lines(const diagnose::Diagnosis& diagnosis, const OfflineJob& job,
                         const std::filesystem::path& out) {
  std::vector<Flagged> rows;
  for (const diagnose::EventScope& scope : diagnosis.scopes)
    for (const auto& [name, request] : requests_of(scope)) {
      const agent::NodeAgent* agent = find_agent(job, name);
      if (agent == nullptr) continue;
      for (const recall::Hit& hit : agent->recall(request))
        for (const std::uint64_t line : hit.lines)
          rows.push_back({hit.file, line, to_string(scope.id), scope.score});
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

}  // namespace l4::cli
