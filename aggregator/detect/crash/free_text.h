// Sources in which words alone prove nothing: what a model generated, samples of a data set, prose.
//
// Place in the flow: failure_events asks before it believes a line whose words alone sound like a
// failure. Free text shows itself by its variety: ever new lines of it speak of failures while the
// job goes on, and those at the end are no more than these let expect. It also shows itself by its
// form: several long sentences, each another, of plain words that are joined by the little words of
// a language. A program that fails prints one such sentence, if any. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// A long sentence of plain words, such as a person or a model writes.
bool is_prose(std::string_view text);

/// What of a stream is free text: nothing, its prose, or all that is told by words alone.
enum class FreeText : std::uint8_t { none, prose, all };

/// By JobView::streams.
std::vector<FreeText> find_free_text(const job::JobView& view, const std::vector<EventHint>& hints);

}  // namespace l4::detect::crash
