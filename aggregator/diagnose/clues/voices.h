// Which ranks speak of the failure: what each of its lines is worth as evidence, and from when on a
// rank complains.
//
// Place in the flow: failure events and hints in; several sources of clues read it, since being
// first, or silent, is told from those that speak. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/diagnose/findings/findings.h"
#include "common/base/time.h"

namespace l4::diagnose::clues {

/// What a line says against its own rank: nothing if it is an echo, little if it is a notice or a
/// mild warning. As long as no cause is known, a rank that reports a lost peer is as good a lead as
/// the unnamed peer.
enum class Telling : std::uint8_t { nothing, hint, accuser, cause };

Telling telling_of(const detect::EventHint& hint, const detect::FailureEvent& failure);

/// Ranks that printed an event, by JobView::ranks, each with its first time, and their nodes.
struct Printers {
  struct Rank {
    std::uint32_t rank = 0;
    std::optional<TimeMs> first;
  };
  std::vector<Rank> ranks;  ///< ascending
  std::size_t nodes = 0;
};

/// One line of the failure.
struct Voice {
  Printers said;
  /// It counts for its rank as a cause does. What most nodes say alike tells of no place: then one
  /// of few nodes that waited for something else, or lost it, is the lead.
  bool counts = false;
  bool echo = false;  ///< it follows from another failure, or speaks of somebody else
};

struct Voices {
  explicit Voices(const Findings& findings);

  std::vector<Voice> lines;         ///< by FailureEvents::events
  bool fatal = false;               ///< some line ends a process, and is no echo
  Telling most = Telling::nothing;  ///< the most that any line says
  std::vector<bool> complained;     ///< by JobView::ranks: printed a sign of the failure
  /// By JobView::ranks: a launcher, an operator or a driver that blames others. Its other lines
  /// tell of them, too.
  std::vector<bool> reports;
  /// By JobView::ranks: the first sign, and the first that is no echo.
  std::vector<std::optional<TimeMs>> first_seen, cause_time;
};

}  // namespace l4::diagnose::clues
