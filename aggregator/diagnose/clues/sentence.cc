#include "aggregator/diagnose/clues/sentence.h"

#include <fmt/format.h>

#include <algorithm>

namespace l4::diagnose::clues {
namespace {

/// Lines are long, and a reason is read at a glance.
constexpr std::size_t kLineMax = 80, kPartMax = 60;

/// The text of the `place`-th template (from 0), cut.
std::string line(const Facts& facts, std::size_t most, std::size_t place = 0) {
  for (const Fact& fact : facts)
    if (fact.kind == FactKind::text && place-- == 0) return text(fact).substr(0, most);
  return {};
}

std::string span(const Facts& facts) {
  return to_human(Millis{static_cast<std::int64_t>(number_of(facts, FactKind::ms))});
}

std::string say_odd_iteration(const Facts& facts) {
  std::string said = fmt::format("temporal: its iteration {} is not what it and its peers print",
                                 text_of(facts, FactKind::iteration));
  if (const std::string missing = line(facts, kPartMax); !missing.empty())
    said += fmt::format("; \"{}\" is missing", missing);
  return said;
}

std::string say_silent(const Facts& facts, std::string_view kind) {
  return fmt::format("stopped without a word while {} of {} {} complained",
                     text_of(facts, FactKind::count), text_of(facts, FactKind::of), kind);
}

std::string say_process(ClueKind kind, const Facts& facts) {
  const std::string since = "since " + text_of(facts, FactKind::since);
  if (kind == ClueKind::process_stopped) return "its process is stopped " + since;
  if (kind == ClueKind::process_traced) return "its process is stopped by a debugger " + since;
  if (kind == ClueKind::process_waits)
    return "its process waits for a device or a file system " + since;
  return "its process is gone " + since + ": " + text_of(facts, FactKind::exit);
}

std::string say_nic(ClueKind kind, const Facts& facts) {
  const std::string nic = text_of(facts, FactKind::nic);
  if (kind == ClueKind::nic_silent_first)
    return fmt::format("its network card {} sent no more {} before all others", nic, span(facts));
  return fmt::format(
      "its network card {} counts errors since {} (hardware, network): {} rose by {}", nic,
      text_of(facts, FactKind::since), text_of(facts, FactKind::counter),
      text_of(facts, FactKind::count));
}

std::string say_network(ClueKind kind, const Facts& facts) {
  return fmt::format("{}: the network shows {} at {}",
                     kind == ClueKind::network_first ? "stopped first, or is missing" : "is slow",
                     text_of(facts, FactKind::trouble), text_of(facts, FactKind::place));
}

}  // namespace

std::string sentence(ClueKind kind, const Facts& facts) {
  using enum FactKind;
  switch (kind) {
    case ClueKind::process_stopped:
    case ClueKind::process_traced:
    case ClueKind::process_waits:
    case ClueKind::process_gone:
    case ClueKind::process_followed:
      return say_process(kind, facts);
    case ClueKind::agent_lost:
      return "its node's agent was lost, and the job has not gone on since";
    case ClueKind::cause:
    case ClueKind::accuser:
    case ClueKind::echo:
      return fmt::format("says \"{}\" ({} of {} nodes do)", line(facts, kLineMax),
                         text_of(facts, count), text_of(facts, of));
    case ClueKind::blamed:
    case ClueKind::named_by_peers:
      return fmt::format("is named by {}: \"{}\"", text_of(facts, peer), line(facts, kLineMax));
    case ClueKind::odd_iteration:
      return say_odd_iteration(facts);
    case ClueKind::differs:
      return fmt::format("differs from its past and its peers by \"{}\"", line(facts, kPartMax));
    case ClueKind::late_start:
      return fmt::format("began {} after its peers", span(facts));
    case ClueKind::slow_phase:
      return fmt::format("its {} takes longer for good", text_of(facts, timer));
    case ClueKind::held_up:
      return fmt::format("held an iteration up for {}", span(facts));
    case ClueKind::turned:
      return fmt::format("prints \"{}\" before \"{}\" since iteration {}", line(facts, kPartMax),
                         line(facts, kPartMax, 1), text_of(facts, iteration));
    case ClueKind::first:
    case ClueKind::first_to_echo:
      return "was the first of all to say anything unusual";
    case ClueKind::silent:
      return say_silent(facts, "ranks");
    case ClueKind::silent_launcher:
      return say_silent(facts, "launchers");
    case ClueKind::silent_first:
      return fmt::format("fell silent {} before all others", span(facts));
    case ClueKind::habit_stopped:
      return fmt::format("no longer says \"{}\", as {} ranks still do during the stall",
                         line(facts, kPartMax), text_of(facts, count));
    case ClueKind::behind:
      return fmt::format("did not complete iteration {}, which others did",
                         text_of(facts, iteration));
    case ClueKind::logs_stopped:
      return "all of the node's logs stop without a word; the others complain";
    case ClueKind::dragged:
      return fmt::format("its own {} grew from {:.1f} to {:.1f} ms", text_of(facts, timer),
                         number_of(facts, usual_ms), number_of(facts, ms));
    case ClueKind::isolated:
      return "stands apart from the other nodes by the lines of the failure";
    case ClueKind::nic_errors:
    case ClueKind::nic_silent_first:
      return say_nic(kind, facts);
    case ClueKind::network_first:
    case ClueKind::network_slow:
      return say_network(kind, facts);
    case ClueKind::absent:
      return "left no log, as if it was never started; its neighbours waited for it";
    case ClueKind::as_published:
      return fmt::format("isolation score {:.3f}", number_of(facts, score));
  }
  return {};
}

}  // namespace l4::diagnose::clues
