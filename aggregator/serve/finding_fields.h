// Names and order of the fields of the items in a report's lists: nodes, ranks, events, faults.
//
// The other half of report_fields.h, which explains both. Private to this room.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "aggregator/diagnose/report.h"

namespace l4::serve {

/// Spelling of a parameter's kind in the report.
std::string_view name(wire::ParameterKind kind);

/// True for words that mean "not known" and are null in JSON.
template <class Word>
constexpr bool is_null(Word) {
  return false;
}
constexpr bool is_null(Stage stage) {
  return stage == Stage::unknown;
}
constexpr bool is_null(RankSource source) {
  return source == RankSource::none;
}

template <class T, class Plain>
concept Is = std::same_as<std::remove_const_t<T>, Plain>;

template <class V, Is<diagnose::SuspectNode> T>
void fields(V& v, T& node) {
  v("node", node.node);
  v("score", node.score);
  v("confidence", node.confidence);
  v("ranks", node.ranks);
  v("first_seen", node.first_seen);
  v("why", node.why);
  v("events", node.events);
}

template <class V, Is<diagnose::SuspectRank> T>
void fields(V& v, T& rank) {
  v("rank", rank.rank);
  v("rank_source", rank.rank_source);
  v("node", rank.node);
  v("score", rank.score);
  v("last_line", rank.last_line);
  v("process", rank.process);
  v("why", rank.why);
}

template <class V, Is<diagnose::ParameterCount> T>
void fields(V& v, T& parameter) {
  v("kind", parameter.kind);
  v("value", parameter.value);
  v("count", parameter.count);
}

template <class V, Is<diagnose::Example> T>
void fields(V& v, T& example) {
  v("node", example.node);
  v("rank", example.rank);
  v("file", example.file);
  v("line", example.line);
  v("text", example.text);
}

template <class V, Is<diagnose::FirstSeen> T>
void fields(V& v, T& first) {
  v("time", first.time);
  v("node", first.node);
  v("rank", first.rank);
}

template <class V, Is<diagnose::IndicatingEvent> T>
void fields(V& v, T& event) {
  v("template_id", event.id);
  v("template", event.text);
  v("role", event.role);
  v("score", event.score);
  v.optional_field("confidence", event.confidence);
  v("count", event.count);
  v("nodes", event.nodes);
  v("ranks", event.ranks);
  v("first", event.first);
  v("stage", event.stage);
  v("iteration", event.iteration);
  v("level", event.level);
  v("why", event.why);
  v("parameters", event.parameters);
  v("examples", event.examples);
}

template <class V, Is<diagnose::ScoredIteration> T>
void fields(V& v, T& iteration) {
  v("iteration", iteration.iteration);
  v("score", iteration.score);
  v("begin", iteration.begin);
  v("end", iteration.end);
  v("nodes", iteration.nodes);
  v("events", iteration.events);
}

template <class V, Is<diagnose::StageSpan> T>
void fields(V& v, T& span) {
  v("stage", span.stage);
  v("begin", span.begin);
  v("end", span.end);
  v("ranks", span.ranks);
}

template <class V, Is<diagnose::KnownFault> T>
void fields(V& v, T& fault) {
  v("id", fault.id);
  v("title", fault.title);
  v("category", fault.category);
  v("confidence", fault.confidence);
  v("cause", fault.cause);
  v("fix", fault.fix);
  v("evidence", fault.evidence);
}

}  // namespace l4::serve
