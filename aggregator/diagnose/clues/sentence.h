// Sentences of clues, for people.
//
// Place in the flow: clue.h -> here -> reports. Pure, thread-safe. Nothing reads them again.
#pragma once

#include <string>

#include "aggregator/diagnose/clues/clue.h"

namespace l4::diagnose::clues {

/// Without a subject: "fell silent 3 s before all others".
std::string sentence(ClueKind kind, const Facts& facts);

}  // namespace l4::diagnose::clues
