// `l4 ack` and `l4 maintenance`: what the aggregator shall not alert about, and who said so.
//
// Flow: command line -> run_quiet -> tools/l4/ask -> the aggregator's row, as text or JSON.
// Blocking.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/error.h"
#include "common/base/time.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands {

struct QuietOptions : ask::AskOptions {
  enum class Action { ack, add, list, end };

  Action action = Action::list;
  std::string format = "text";
  std::string incident, note;  ///< ack
  bool undo = false;           ///< ack: take it back
  std::string job, node;       ///< add: patterns, one of the two
  std::string until;           ///< add: a time with its zone
  std::string lasts;           ///< add: a duration in place of `until`
  std::string why;             ///< add
  bool unseen = false;         ///< add: the pattern may match nothing yet
  bool over = false;           ///< list: also those that are over
  std::string maintenance;     ///< end: its id
};

terminal::Command ack_command();
/// The row of `l4 maintenance`, with those of its commands.
terminal::Command maintenance_command();

/// 90s, 30m, 4h or 2d; an Error for any other text, or less than a second.
Result<Millis> parse_duration(const std::string& text);

/// Exit status: 0 done; 2 wrong use, refused, or nothing of this name; 3 no answer.
int run_quiet(const QuietOptions& options);

}  // namespace l4::commands
