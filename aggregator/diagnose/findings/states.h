// What a state of a job means for its suspects.
#pragma once

#include "common/base/vocabulary.h"

namespace l4::diagnose {

/// The state is one of a failure, or of a job that has become slow.
inline bool has_suspects(State state) {
  return state != State::healthy && state != State::finished;
}

}  // namespace l4::diagnose
