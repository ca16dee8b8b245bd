// Forms of secrets that need nobody to name them: tokens, passwords in URLs, cloud keys.
//
// Place in the flow: raw lines on demand (agent/lines) and the texts of templates lose what matches
// before they leave the node, unless [redact] secrets = false; what a user adds stands in
// agent/pipeline/redaction.h beside it. One explicit list; a form is added there and to
// tests/agent/pipeline/secrets_test.cc. Immutable, thread-safe.
#pragma once

#include <memory>

#include "agent/pipeline/redaction.h"

namespace l4::pipeline {

/// Never null.
std::unique_ptr<const Redaction> known_secrets();

}  // namespace l4::pipeline
