#include "aggregator/diagnose/notable.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "aggregator/diagnose/notable_nodes.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::figures::Change;
using detect::figures::ChangeKind;

std::string_view kind_of(const Change& change) {
  const bool gradient = change.figure == wire::FigureKind::gradient_norm;
  switch (change.kind) {
    case ChangeKind::not_finite:
      return gradient ? "gradient_not_finite" : "loss_not_finite";
    case ChangeKind::out_of_range:
      return gradient ? "gradient_out_of_range" : "loss_out_of_range";
    case ChangeKind::at_floor:
      return "loss_scale_floor";
    case ChangeKind::falls:
      break;
  }
  return "rate_falls";
}

/// As few digits as tell such a number: 2.317, 65536, 3e-09.
std::string figure_text(double value) {
  const double size = std::abs(value);
  return size >= 1000 && size < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string from_text(const Change& change) {
  return change.from ? fmt::format("from iteration {} on", change.from->value())
                     : std::string("up to its end");
}

/// " on 3 of 8 sources" where only some of those that print the number show the change.
std::string where_text(const Change& change, const Notable& notable) {
  if (change.streams.size() == change.streams_printing) return "";
  if (notable.rank) return fmt::format(", on rank {}", notable.rank->value());
  return fmt::format(", on {} of {} sources", change.streams.size(), change.streams_printing);
}

std::string text_of(const Change& change, const Notable& notable) {
  const std::string where = where_text(change, notable);
  const std::string from = from_text(change);
  const std::string usual =
      change.usual ? fmt::format("; it was {} before", figure_text(*change.usual)) : std::string();
  switch (change.kind) {
    case ChangeKind::not_finite:
      return fmt::format("{} is {} {}{}{}.", change.name,
                         std::isnan(change.value) ? "NaN" : "infinite", from, where, usual);
    case ChangeKind::out_of_range:
      return fmt::format("{} has left its range for good{}: {} {}{}.", change.name, where,
                         figure_text(change.value), from, usual);
    case ChangeKind::at_floor:
      return fmt::format("{} {} {} {}{}; it was up to {} before.", change.name,
                         change.count > 1 ? "stays at its floor of" : "has fallen to",
                         figure_text(change.value), from, where,
                         figure_text(change.usual.value_or(0)));
    case ChangeKind::falls:
      break;
  }
  return fmt::format("{} has fallen{}: {} {}{}.", change.name, where, figure_text(change.value),
                     from, usual);
}

Notable notable_of_change(const job::JobView& view, const Change& change) {
  Notable notable;
  notable.kind = kind_of(change);
  if (change.streams.size() == 1 && change.streams_printing > 1) {
    const job::StreamView& stream = view.streams[change.streams.front()];
    notable.node = view.nodes[stream.node].name;
    notable.rank = view.ranks[stream.rank].rank;
  }
  notable.iteration = change.from;
  notable.value = Printed{change.value};
  if (change.usual) notable.usual = Printed{*change.usual};
  notable.count = change.count;
  notable.text = text_of(change, notable);
  return notable;
}

}  // namespace

std::vector<Notable> notable_of(const Findings& findings) {
  std::vector<Notable> notable;
  notable.reserve(findings.figures.size());
  for (const Change& change : findings.figures)
    notable.push_back(notable_of_change(findings.view, change));
  add_differences(findings.view, findings.differences, notable);
  return notable;
}

}  // namespace l4::diagnose
