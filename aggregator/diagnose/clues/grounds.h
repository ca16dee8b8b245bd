// Grounds of a confidence: facts that make a claim of the report more or less likely to be right.
//
// Place in the flow: state_grounds.h, node_grounds.h and event_grounds.h of diagnose find the
// grounds of a claim; config/scoring.toml says what each is worth; confidence() is the one place
// that makes a probability of them. Pure. docs/SCORING.md, "How sure", has the formula.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace l4::diagnose::clues {

enum class Claim : std::uint8_t {
  state,  ///< the verdict's state is right
  node,   ///< the first suspect node is faulty
  event,  ///< a line of the first event is one of the root of the failure
};
inline constexpr std::size_t kClaims = static_cast<std::size_t>(Claim::event) + 1;

enum class GroundKind : std::uint8_t {
  // What decides for the state: one of these, by the row of the verdict's table.
  state_said_well,      ///< somebody says that it ended well
  state_ended_well,     ///< its end, its totals or its results show it
  state_slowed,         ///< iterations take longer
  state_dragged,        ///< the same, by warnings alone
  state_waited_early,   ///< failed without a sign of training, after ranks waited
  state_stopped_early,  ///< was stopped, without a sign of training
  state_start_failed,   ///< failed, and the logs show how it started
  state_stood_early,    ///< failed without a sign of training, after a silence
  state_start_guessed,  ///< what failed belongs to a start that the logs do not show
  state_start_unseen,   ///< failed, and nothing shows whether it had trained
  state_lost,           ///< failed, and nodes stopped without a word
  state_stood,          ///< failed after a long silence
  state_waited,         ///< the only evidence is that ranks waited
  state_failed,         ///< failed in training
  state_gone,           ///< its processes are gone, or a peer is, and nothing says why
  state_untold,         ///< its processes have ended, and nothing says how
  state_silent,         ///< silent for too long
  state_silent_start,   ///< silent for too long, without an iteration
  state_silent_lost,    ///< silent for too long, and nodes stopped without a word
  state_suspected,      ///< of a running job: silent, and not yet confirmed
  state_short_log,      ///< a few lines
  state_blind,          ///< the logs end, and nobody knows when they were collected
  state_running,        ///< goes on
  // What else bears on the state.
  state_fatal,      ///< a line or an exit ends a process
  state_caused,     ///< a line tells a cause that nothing else explains
  state_compared,   ///< no line sounds like a failure: new lines stand for it
  state_unread,     ///< what lines say was not read
  state_pooled,     ///< healthy runs are known
  state_doubts,     ///< ln(1 + facts that would change the state if they were otherwise)
  state_near_wait,  ///< the pause before the failure is about as long as a wait (0..1)
  state_shown,      ///< share of the nodes that show the failure
  state_missing,    ///< share of ranks or bytes that is missing
  // The first suspect node.
  node_base,
  node_by_line,        ///< its strongest clue is a line of its own
  node_by_accusation,  ///< ... that others name it
  node_by_process,     ///< ... the end or state of a process
  node_by_silence,     ///< ... that it stopped, or is behind
  node_by_comparison,  ///< ... that it differs from its peers
  node_by_order,       ///< ... that it was the first
  node_by_echo,        ///< ... a line that follows from another failure
  node_score,          ///< s / (1 + s) of its score s
  node_margin,         ///< distance to the next node's score, as a share of its own
  node_alike,          ///< ln of the number of nodes whose score is nearly the same
  node_crowd,          ///< more than four nodes, or most of them, have nearly the same score
  node_many,           ///< ln of the number of nodes
  node_agreeing,       ///< ln of the number of kinds of clues against it
  node_hung,           ///< the job hung
  node_launch,         ///< it failed before its first iteration
  node_slow,           ///< it is slow
  node_compared,       ///< as state_compared
  node_unread,         ///< as state_unread
  node_pooled,         ///< as state_pooled
  node_missing,        ///< as state_missing
  node_outsider,       ///< only others name it: it left no log
  node_absent,         ///< a gap in the names, and nobody names it
  // The first event.
  event_base,
  event_fatal,      ///< it ends a process
  event_quiet,      ///< it does not tell of a failure
  event_known,      ///< a known fault
  event_general,    ///< ... that says only that something failed
  event_coded,      ///< ... that its error code identifies
  event_by_words,   ///< its words alone sound like a failure
  event_echo,       ///< it is about another rank
  event_after,      ///< it follows another failure; no cause is seen
  event_earliest,   ///< nothing failed earlier
  event_of_first,   ///< the first suspect node prints it
  event_few_nodes,  ///< few nodes print it
  event_rivals,     ///< ln(1 + further events that may be the root)
  event_wraps,      ///< says only that something failed, and its next line what
  event_compared,   ///< as state_compared
  event_unread,     ///< as state_unread
  event_pooled,     ///< as state_pooled
};
inline constexpr std::size_t kGroundKinds = static_cast<std::size_t>(GroundKind::event_pooled) + 1;

Claim claim_of(GroundKind kind);
std::string_view name(Claim claim);
/// As in the report and in the table of its claim: "fatal" of state_fatal.
std::string_view name(GroundKind kind);
/// The claim of this name; none: there is no such one.
std::optional<Claim> claim_named(std::string_view name);
/// The ground of this name among those of the claim; none: there is no such one.
std::optional<GroundKind> ground_named(Claim claim, std::string_view name);

struct Ground {
  GroundKind kind = GroundKind::node_base;
  double value = 1;  ///< 0 where it does not hold
};
using Grounds = std::vector<Ground>;
constexpr double flag(bool holds) {
  return holds ? 1 : 0;
}

/// The sign that a weight may have.
enum class Sign : std::uint8_t { up, down, any };

struct GroundRow {
  double weight = 0;  ///< log-odds that a ground of value 1 adds
  double most = 0;    ///< confidence that a claim with this ground never exceeds
  Sign sign = Sign::any;
};
using GroundRows = std::array<GroundRow, kGroundKinds>;

/// No claim is surer than this, whatever the table says.
inline constexpr double kConfidenceMost = 0.99;

/// The probability that a claim with these grounds is right: the logistic function of the sum of
/// weight x value. In [0, kConfidenceMost]; a value that is not finite counts as 0.
double confidence(const Grounds& grounds, const GroundRows& rows);

}  // namespace l4::diagnose::clues
