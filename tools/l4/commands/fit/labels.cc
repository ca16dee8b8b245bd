#include "tools/l4/commands/fit/labels.h"

#include <algorithm>
#include <string>
#include <utility>

#include "aggregator/serve/json_reader.h"

namespace l4::commands::fit {
namespace {

using diagnose::clues::claim_named;
using diagnose::clues::ground_named;
using serve::JsonMembers;

void read_claim(JsonMembers& from, const std::string& source, Labels& labels) {
  const std::string of = from.text("of");
  const auto claim = claim_named(of);
  if (!claim) return from.fail("of", "must be state, node or event");
  l4::fit::LabelledClaim labelled;
  labelled.of = *claim;
  labelled.source = source;
  from.read("right", labelled.right);
  from.each("grounds", [&](JsonMembers& ground) {
    const auto kind = ground_named(*claim, ground.text("kind"));
    const auto value = ground.get<double>("value");
    if (kind) labelled.grounds.push_back({*kind, value});
  });
  labels.claims.push_back(std::move(labelled));
}

void read_label(JsonMembers& from, Labels& labels) {
  const std::string subject = from.text("subject"), source = from.text("source");
  ++(subject.starts_with("job ") ? labels.jobs : labels.incidents);
  const auto told = from.get<TimeMs>("told");
  labels.newest = std::max(labels.newest.value_or(told), told);
  from.each("claims", [&](JsonMembers& claim) { read_claim(claim, source, labels); });
}

}  // namespace

Result<void> read_labels(std::string_view text, Labels& labels) {
  const auto json = serve::parse_json(text);
  if (!json) return std::unexpected(Error{"", json.error().reason});
  serve::JsonReader reader("$");
  JsonMembers from(reader, *json);
  if (!reader.failed()) from.each("labels", [&](JsonMembers& label) { read_label(label, labels); });
  if (reader.error()) return std::unexpected(*reader.error());
  return {};
}

}  // namespace l4::commands::fit
