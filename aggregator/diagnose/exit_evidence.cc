#include "aggregator/diagnose/exit_evidence.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "common/drain/mask.h"
#include "common/drain/row.h"
#include "common/parameters/parameters.h"

namespace l4::diagnose {
namespace {

using wire::Exit;

constexpr std::string_view kGone = "its process is gone since ", kSignal = ": signal ";

bool strikes(std::int32_t signal) {
  return signal != SIGABRT && signal != SIGTERM;
}

/// The signal that an exit sentence names.
std::optional<std::int32_t> signal_in(std::string_view sentence) {
  const std::size_t at = sentence.find(kSignal);
  if (!sentence.starts_with(kGone) || at == sentence.npos) return std::nullopt;
  const char* const number = sentence.data() + at + kSignal.size();
  std::int32_t signal = 0;
  const auto read = std::from_chars(number, sentence.data() + sentence.size(), signal);
  if (read.ec != std::errc{}) return std::nullopt;
  return signal;
}

}  // namespace

bool is_struck(const Exit& exit) {
  return exit.kind == Exit::Kind::signal && strikes(exit.value);
}

std::string exit_sentence(TimeMs since, const Exit& exit) {
  return fmt::format("{}{}: {}", kGone, to_rfc3339(since), wire::text(exit));
}

std::optional<Struck> struck(const Report& report) {
  if (report.ranks.empty()) return std::nullopt;
  const SuspectRank& first = report.ranks.front();
  for (const std::string& sentence : first.why) {
    const auto signal = signal_in(sentence);
    if (!signal || !strikes(*signal)) continue;
    const drain::Row row = drain::masked_row(sentence, drain::default_codes());
    Struck found{*signal, {}};
    IndicatingEvent& event = found.event;
    event.id = TemplateId{drain::hash(row)};
    event.text = drain::text(row);
    event.role = Role::root;
    event.count = 1;
    event.nodes = {first.node};
    if (first.rank) event.ranks = {*first.rank};
    event.first = {report.verdict.since, first.node, first.rank};
    event.level = Level::fatal;
    event.why = {Why::spatial, Why::fatal};
    std::vector<wire::Parameter> values;
    parameters::extract(sentence, values);
    for (wire::Parameter& value : values)
      event.parameters.push_back({value.kind, std::move(value.value), 1});
    event.examples = {{first.node, first.rank, {}, 0, sentence}};
    return found;
  }
  return std::nullopt;
}

}  // namespace l4::diagnose
