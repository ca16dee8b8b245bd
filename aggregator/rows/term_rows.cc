#include "aggregator/rows/term_rows.h"

#include "aggregator/rows/score_rows.h"
#include "aggregator/serve/utf8.h"

namespace l4::rows {
namespace {

using detect::spatial::Departure;
using serve::JsonWriter;

std::string_view name_of(Departure departure) {
  switch (departure) {
    case Departure::first:
      return "new";
    case Departure::burst:
      return "burst";
    case Departure::more:
      return "more";
    case Departure::fewer:
      return "fewer";
  }
  return {};
}

void write(JsonWriter& to, const scores::LineTerm& term) {
  const detect::spatial::ScoreTerm& of = term.of;
  to.open('{').member("template_id", to_string(term.id));
  to.member("template", serve::cut(term.text, kTermTextMax)).member("level", name(term.level));
  to.member("departure", name_of(of.departure)).member("count", of.count);
  to.member("expected", of.expected).member("expected_by", of.by_peers ? "peers" : "past");
  to.member("largest_before", of.largest).member("peers_median", of.peers_median);
  to.member("nodes_alike", of.alike).member("strength", of.strength);
  to.member("nats", of.nats).close('}');
}

void write(JsonWriter& to, const scores::LapTerm& term) {
  to.open('{').member("rank", term.rank).key("phase");
  if (term.phase.empty())
    to.raw("null");
  else
    to.value(term.phase);
  to.member("iteration", term.iteration).member("ms", term.ms).member("usual_ms", term.usual_ms);
  to.member("exact_ms", term.exact_ms);
  to.member("score", term.score).member("peers_ms", term.peers_ms);
  to.member("peers", term.peers).close('}');
}

void write_place(JsonWriter& to, bool by_time, std::int64_t place) {
  if (by_time)
    to.value(TimeMs{Millis{place}});
  else
    to.value(place);
}

template <class Term>
void write_list(JsonWriter& to, const std::vector<Term>& terms) {
  to.open('[');
  for (const Term& term : terms) write(to, term);
  to.close(']');
}

}  // namespace

void write(JsonWriter& to, std::string_view job, std::string_view node,
           const scores::Terms& terms) {
  to.open('{').member("job", job).member("attempt", terms.attempt);
  to.member("what", name_of(terms.what)).member("by", terms.by_time ? "time" : "iteration");
  to.member("node", node).key("begin");
  write_place(to, terms.by_time, terms.begin);
  write_place(to.key("end"), terms.by_time, terms.end);
  to.member("score", terms.score).member("nodes", terms.nodes);
  write_list(to.key("lines"), terms.lines);
  write_list(to.key("laps"), terms.laps);
  to.member("left_out", terms.left_out);
  to.member("left_out_score", terms.left_out_score).close('}');
}

}  // namespace l4::rows
