#include "aggregator/rows/node_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/earliest.h"

namespace l4::rows {
namespace {

struct Gathered {
  NodeRow row;
  std::set<std::string> agents;
  std::set<Rank> ranks;
  const job::Stream* farthest = nullptr;  ///< that completed the newest iteration
};

}  // namespace

std::vector<NodeRow> node_rows(const job::JobState& state, const diagnose::Report* report) {
  std::map<std::string_view, Gathered> nodes;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [source, stream] : agent.streams) {
      Gathered& node = nodes[stream.source.node];
      node.agents.insert(name);
      if (stream.source.rank) node.ranks.insert(*stream.source.rank);
      NodeRow& row = node.row;
      ++row.sources;
      row.records += stream.lines;
      if (stream.last_completed && !stream.counted &&
          (node.farthest == nullptr || *stream.last_completed > *node.farthest->last_completed)) {
        node.farthest = &stream;
        row.iteration = stream.printed(*stream.last_completed);
      }
      keep_latest(row.last_line, stream.end);
    }
  std::vector<NodeRow> rows;
  const auto take = [&](Gathered& node, std::string_view name) {
    node.row.node = name;
    node.row.agents.assign(node.agents.begin(), node.agents.end());
    node.row.ranks.assign(node.ranks.begin(), node.ranks.end());
    rows.push_back(std::move(node.row));
  };
  if (report != nullptr)
    for (const diagnose::SuspectNode& suspect : report->nodes) {
      auto known = nodes.extract(suspect.node);
      Gathered none;
      Gathered& node = known.empty() ? none : known.mapped();
      node.row.suspect = &suspect;
      take(node, suspect.node);
    }
  for (auto& [name, node] : nodes) take(node, name);
  return rows;
}

}  // namespace l4::rows
