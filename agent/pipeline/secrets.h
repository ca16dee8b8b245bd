// The built-in forms of secrets: tokens, passwords in URLs, cloud keys.
//
// Place in the flow: matches are replaced in raw lines on demand (agent/lines) and in the texts of
// templates before they leave the node, unless [redact] secrets = false. A user's own expressions
// are in agent/pipeline/redaction.h. One explicit list in secrets.cc; a form is added there and to
// tests/agent/pipeline/secrets_test.cc. Immutable, thread-safe.
#pragma once

#include <memory>

#include "agent/pipeline/redaction.h"

namespace l4::pipeline {

/// Never null.
std::unique_ptr<const Redaction> known_secrets();

}  // namespace l4::pipeline
