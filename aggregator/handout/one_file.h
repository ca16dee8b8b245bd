// The page as one file that holds a report: to be handed on, and opened without an aggregator.
//
// Flow: a report, and what is known beside it, as JSON -> one_file() -> an HTML document, which the
// caller writes. Script and style sheet are those that l4-aggregator serves (page/assets.h), in
// full and not packed, since a document opened from disk is read as it is. The document asks for
// nothing: its policy of content (CSP by <meta>) allows the one script and the one style sheet by
// their SHA-256 and no request at all. Where no script runs, the text report is read. Thread-safe,
// no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace l4::handout {

/// What the file shows. JSON is not checked, but it cannot leave its place in the document.
struct Contents {
  std::string title;                ///< of the window, until the script says its own
  std::string text;                 ///< the text report, without colours
  std::string report;               ///< JSON of schemas/report.schema.json
  std::vector<std::string> scores;  ///< JSON of Scores in schemas/openapi.yaml, for the map
  std::string nodes;                ///< JSON of the answer `nodes` of the same schema; empty: none
  std::vector<std::string> terms;   ///< JSON of ScoreTerms, of cells of these maps
  std::string near;                 ///< JSON of the answer `near_faults`; empty: none
};

/// The whole document, UTF-8.
std::string one_file(const Contents& contents);

/// JSON as it may stand in a <script> element: `<`, `>`, `&`, and what turns text round, are
/// written as \uXXXX; JSON readers give the same value.
std::string json_in_html(std::string_view json);

/// Text as it may stand between tags and in quotation marks; what would act is shown as a sign.
std::string text_in_html(std::string_view text);

}  // namespace l4::handout
