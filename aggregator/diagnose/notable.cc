#include "aggregator/diagnose/notable.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "aggregator/diagnose/network_notes.h"
#include "aggregator/diagnose/notable_nodes.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::delay::Delay;
using detect::delay::DelayKind;
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

/// 0.006 s, 8.01 s, 95 s.
std::string seconds_text(double ms) {
  const double s = ms / 1000;
  return s >= 100 ? fmt::format("{:.0f} s", s) : fmt::format("{:.3g} s", s);
}

std::string_view kind_of(DelayKind kind) {
  switch (kind) {
    case DelayKind::stall:
      return "stall";
    case DelayKind::slow_phase:
      return "slow_phase";
    case DelayKind::late_start:
      break;
  }
  return "late_start";
}

/// "rank 5 on node-03", "a process on node-03".
std::string who_text(const Notable& notable) {
  return notable.rank ? fmt::format("rank {} on {}", notable.rank->value(), *notable.node)
                      : fmt::format("a process on {}", *notable.node);
}

std::string stall_text(const Delay& stall, const Notable& notable) {
  const std::string number =
      notable.iteration ? fmt::format(" {}", notable.iteration->value()) : std::string();
  std::string text =
      stall.count == 1
          ? fmt::format("{}teration{} took {}", notable.iteration ? "I" : "An i", number,
                        seconds_text(stall.ms))
          : fmt::format("{} iterations took far longer than usual, the longest{} {}", stall.count,
                        notable.iteration ? "," + number + "," : "", seconds_text(stall.ms));
  text += fmt::format("; {} is usual", seconds_text(stall.usual_ms));
  const bool phased = !stall.phase.empty();
  if (notable.node)
    text += fmt::format(": {} held the others up{}", who_text(notable),
                        phased ? "" : " before its first line");
  if (phased)
    text +=
        fmt::format("{} {} took {}, {} is usual", notable.node ? "; its" : ": its phase",
                    stall.phase, seconds_text(stall.phase_ms), seconds_text(stall.phase_usual_ms));
  return text + ".";
}

std::string text_of(const Delay& delay, const Notable& notable) {
  if (delay.kind == DelayKind::stall) return stall_text(delay, notable);
  if (delay.kind == DelayKind::late_start)
    return fmt::format("The start of {} came {} after that of its peers.", who_text(notable),
                       seconds_text(delay.ms));
  return fmt::format("{} of {} takes {} from iteration {} on; it took {} before.", delay.phase,
                     who_text(notable), seconds_text(delay.ms), notable.iteration->value(),
                     seconds_text(delay.usual_ms));
}

Notable notable_of_delay(const Findings& findings, const Delay& delay) {
  const job::JobView& view = findings.view;
  Notable notable;
  notable.kind = kind_of(delay.kind);
  if (delay.rank) {
    notable.rank = view.ranks[*delay.rank].rank;
    notable.node = view.nodes[view.ranks[*delay.rank].node].name;
  }
  if (delay.iteration && !findings.clock.counted)
    notable.iteration = job::printed(view, *delay.iteration);
  if (!delay.phase.empty()) notable.phase = delay.phase;
  const bool of_phase = delay.kind == DelayKind::stall && !delay.phase.empty();
  notable.value = Printed{(of_phase ? delay.phase_ms : delay.ms) / 1000};
  if (delay.kind != DelayKind::late_start)
    notable.usual = Printed{(of_phase ? delay.phase_usual_ms : delay.usual_ms) / 1000};
  notable.count = delay.count;
  notable.text = text_of(delay, notable);
  return notable;
}

}  // namespace

std::vector<Notable> notable_of(const Findings& findings, const std::vector<StandingFault>& faults,
                                const std::optional<Live>& told) {
  std::vector<Notable> notable;
  notable.reserve(findings.delays.size() + findings.figures.size());
  add_standing_faults(findings.view, faults, notable);
  for (const Delay& delay : findings.delays) notable.push_back(notable_of_delay(findings, delay));
  for (const Change& change : findings.figures)
    notable.push_back(notable_of_change(findings.view, change));
  add_turns(findings.view, findings.turns, notable);
  add_differences(findings.view, findings.differences, notable);
  add_nic_errors(findings.view, findings.nics, notable);
  add_network(findings, told, notable);
  return notable;
}

}  // namespace l4::diagnose
