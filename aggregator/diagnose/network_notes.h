// What the network adds to the facts and words of a report, and takes from those of a watched job.
//
// Place in the flow: Bearing -> facts of the verdict, notices, the end of the verdict's sentence.
// Pure. Private to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/network/bearing.h"
#include "aggregator/detect/nics/nics.h"
#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/findings/live.h"
#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

/// Nothing is transferred any more, and nothing shows an end that would explain it.
bool stands_by_network(const Findings& findings);

/// All transfers were torn at once. Where processes are known, one of them must have ended.
bool is_torn(const Findings& findings);

/// Whether a long silence came before the failure, by the last transfer; none if it is not known.
std::optional<bool> stood_by_network(const Findings& findings);

/// Agents of nodes whose cards still send are gone, but not their nodes. `network` may be null.
std::optional<Live> without_senders(std::optional<Live> live,
                                    const detect::network::Network* network);

/// Nodes whose cards still send, be it only signs of life, long after the training's transfers
/// ended are not lost, however silent their logs are.
std::vector<std::uint32_t> without_senders(const Findings& findings,
                                           std::vector<std::uint32_t> lost);

/// Steps that go on although the logs are silent, checkpoints that move, agents that are gone while
/// their nodes send, and slow steps that are over. `told`: what the watch says, if there is one.
void add_network(const Findings& findings, const std::optional<Live>& told,
                 std::vector<Notable>& to);

/// Errors that network cards count: one notice a card, for the counter that rose most. Congestion,
/// which healthy jobs see, is none.
void add_nic_errors(const job::JobView& view, const detect::nics::Nics& nics,
                    std::vector<Notable>& notable);

/// " The network shows ..." behind the sentence of a failure; empty where it shows nothing.
std::string network_text(const detect::network::Bearing& seen, State state);

}  // namespace l4::diagnose
