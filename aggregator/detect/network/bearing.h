// What the network of a job means for what its logs say.
//
// Place in the flow: a JobView, its clock, its silence and a Network in; out come the facts that
// the verdict, the clues and the notes of the report read. Logs that are silent while steps go on
// belong to a job that works; while it writes to storage, its deadline waits. Who stopped first is
// the mean of both orders; where the logs print little, that of the network. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/hang/silence.h"
#include "aggregator/detect/network/network.h"

namespace l4::detect::network {

/// A node that a finding accuses.
struct Accusation {
  std::uint32_t node = 0;  ///< JobView::nodes
  Trouble trouble = Trouble::stopped;
  double strength = 0;  ///< 0 to 1
  std::string place;    ///< the server, card or switch, as the network calls it
};

struct Bearing {
  const Network* network = nullptr;    ///< null: nothing is known of it
  bool goes_on = false;                ///< steps go on behind the logs' last progress
  bool stores = false;                 ///< no steps, but what it writes to storage moves
  bool torn = false;                   ///< all transfers ended at once
  bool waits = false;                  ///< somebody is missing, the others wait
  const Finding* slow = nullptr;       ///< steps are long now, for a reason that lasts
  const Finding* stop = nullptr;       ///< nothing is transferred any more
  std::vector<Accusation> accused;     ///< strongest first
  std::vector<const Finding*> passed;  ///< slow steps that are over, or may harm nothing
};

struct Asked {
  TimeMs as_of{};           ///< the time of the question
  bool unfinished = false;  ///< the logs count iterations and are short of their total
};

/// A silence that began between two steps is a stop where the logs say that more was to come.
Bearing bear(const job::JobView& view, const job::JobClock& clock, const hang::Silence& silence,
             const Network& network, const Asked& asked);

/// The node's cards still send: its agent is gone, or the way to it, but not the node.
bool still_sends(const Network& network, std::string_view node, TimeMs heard);

}  // namespace l4::detect::network
