// Raw lines without what must not leave the node.
//
// The user's expressions were written for messages as the pipeline sees them, without time and
// prefix, and one may be anchored; so they are tried on the message and on the whole line, and
// where what they match in the message cannot be found in the line, the line goes as a whole. The
// known secrets (agent/pipeline/secrets.h) are looked for in the whole line. Immutable but for
// scratch; one thread.
#pragma once

#include <string>
#include <string_view>

#include "agent/lines/task.h"

namespace l4::lines {

class Blot {
 public:
  Blot(const pipeline::Redaction* user, const pipeline::Redaction* secrets)
      : user_(user), secrets_(secrets) {}

  /// The message as templates were learned from it: `text` itself, or what is left of it, until
  /// the next call.
  std::string_view message(std::string_view text);
  /// True if something was blotted out. `message`: of the line, where the user's expressions match
  /// it; else empty.
  bool line(std::string& text, const std::string& message);

 private:
  bool apply(std::string& text);

  const pipeline::Redaction* user_;
  const pipeline::Redaction* secrets_;
  std::string scratch_;
};

}  // namespace l4::lines
