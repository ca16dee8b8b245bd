// Blots out of raw lines what must not leave the node.
//
// The user's expressions are written for messages as the pipeline sees them, without time and
// prefix, and may be anchored. So they are tried on the message and on the whole line. If the text
// that matched in the message is not found in the line, the whole line is blotted out. The known
// secrets (agent/pipeline/secrets.h) are searched in the whole line. Immutable but for scratch; one
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/lines/task.h"

namespace l4::lines {

class Blot {
 public:
  Blot(const pipeline::Redaction* user, const pipeline::Redaction* secrets)
      : user_(user), secrets_(secrets) {}

  /// The message from which templates were learned: `text` itself, or its redacted form, valid
  /// until the next call.
  std::string_view message(std::string_view text);
  /// True if something was blotted out. `messages`: those of the line that the user's expressions
  /// match.
  bool line(std::string& text, const std::vector<std::string>& messages);

 private:
  bool apply(std::string& text);

  const pipeline::Redaction* user_;
  const pipeline::Redaction* secrets_;
  std::string scratch_;
};

}  // namespace l4::lines
