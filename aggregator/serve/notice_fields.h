// Names and order of the fields that l4.report/2 brought: notices, clues, replies, what was read.
//
// A part of report_fields.h, which explains all. Private to this room.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "aggregator/serve/finding_fields.h"

namespace l4::serve {

/// How JSON says a number that it cannot write: "NaN", "Infinity", "-Infinity".
inline constexpr std::array<std::string_view, 3> kNoNumbers{"NaN", "Infinity", "-Infinity"};
inline constexpr std::array<double, 3> kNoNumberValues{std::numeric_limits<double>::quiet_NaN(),
                                                       std::numeric_limits<double>::infinity(),
                                                       -std::numeric_limits<double>::infinity()};
inline std::string_view name_of_no_number(double value) {
  return kNoNumbers[value > 0 ? 1 : value < 0 ? 2 : 0];
}

template <class V, Is<diagnose::Notable> T>
void fields(V& v, T& notable) {
  v("kind", notable.kind);
  v("node", notable.node);
  v("rank", notable.rank);
  v("iteration", notable.iteration);
  v("phase", notable.phase);
  v("value", notable.value);
  v("usual", notable.usual);
  v("count", notable.count);
  v("text", notable.text);
}

template <class V, Is<diagnose::ClueFact> T>
void fields(V& v, T& fact) {
  v("kind", fact.kind);
  v("value", fact.value);
}

template <class V, Is<diagnose::Clue> T>
void fields(V& v, T& clue) {
  v("kind", clue.kind);
  v("node", clue.node);
  v("rank", clue.rank);
  v("strength", clue.strength);
  v("facts", clue.facts);
  v("text", clue.text);
}

template <class V, Is<diagnose::ClaimGround> T>
void fields(V& v, T& ground) {
  v("kind", ground.kind);
  v("value", ground.value);
}

template <class V, Is<diagnose::ClaimShare> T>
void fields(V& v, T& alternative) {
  v("name", alternative.name);
  v("share", alternative.share);
}

template <class V, Is<diagnose::Certainty> T>
void fields(V& v, T& certainty) {
  v("of", certainty.of);
  v("name", certainty.name);
  v("confidence", certainty.confidence);
  v("grounds", certainty.grounds);
  v("alternatives", certainty.alternatives);
  v("decided_by", certainty.decided_by);
}

template <class V, Is<diagnose::Asked> T>
void fields(V& v, T& asked) {
  v("source", asked.source);
  v("node", asked.node);
  v("status", asked.reply);
  v("count", asked.count);
  v("text", asked.text);
}

template <class V, Is<diagnose::Understood> T>
void fields(V& v, T& understood) {
  v("lines", understood.lines);
  v("timed", understood.timed);
  v("ranked", understood.ranked);
  v("iterated", understood.iterated);
  v("formats", understood.formats);
  v("packs", understood.packs);
  v("glued", understood.glued);
  v("split", understood.split);
}

template <class V, Is<diagnose::SourceRead> T>
void fields(V& v, T& source) {
  v("file", source.file);
  v("node", source.node);
  fields(v, source.understood);
  v("marker", source.marker);
  v("marker_why", source.marker_why);
  v("unused", source.unused);
}

template <class V, Is<diagnose::ReadSummary> T>
void fields(V& v, T& read) {
  v("files", read.files);
  fields(v, read.understood);
  v("sources", read.sources);
}

}  // namespace l4::serve
