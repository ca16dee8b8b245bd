// A report as one HTML file: `--html` of diagnose, show, snapshot and incidents.
//
// Flow: a report, and what is known beside it -> secrets are blotted out of all its texts ->
// handout/one_file.h -> a file. The report that is printed is another one and stays as it is. No
// state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "common/base/error.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/terminal/options.h"

namespace l4::faults {
class Library;
}  // namespace l4::faults
namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::commands {

/// What the file shows beside its report; empty where only the report is known.
struct Beside {
  std::vector<std::string> scores;  ///< the map: JSON of Scores (schemas/openapi.yaml)
  std::string nodes;                ///< JSON of the answer `nodes`
  std::vector<std::string> terms;   ///< JSON of ScoreTerms: why cells of the map have their scores
  std::string near;                 ///< JSON of the answer `near_faults`
  std::vector<std::vector<diagnose::Example>> lines;  ///< of each event, where the report has none
};

/// Columns and rows of each of its matrices, so that the file of 128 nodes stays below 2 MB.
inline constexpr std::size_t kMapColumns = 240, kMapRows = 1'000;
/// Bytes of all terms together.
inline constexpr std::size_t kTermBytesMax = std::size_t{256} << 10U;

/// The option `--html`.
terminal::OptionRow add_html(terminal::Options& to, std::filesystem::path& html);
/// Error: `html` cannot be written, or goes with a comparison, which it does not show.
Result<void> check_html(const std::filesystem::path& html, const std::string& diff);

/// Beside the report of a job that was read here: its map, with the terms of the cells in which the
/// first suspects stand out, and the nearest known faults.
Beside beside_of(const job::JobState& state, const diagnose::Report& report,
                 const l4::faults::Library& library);
/// Beside a report of which nothing else is known: the nearest faults of the library that
/// `l4 diagnose` would use.
Beside beside_of(const diagnose::Report& report, std::string_view program);
/// Beside a report that `asked` has sent: the same, and lines of its first events, which are read
/// on the nodes. `incident`: whose nearest faults are asked for; empty: none. What cannot be had is
/// left out, and said on standard error.
Beside fetch_beside(const ask::Aggregator& asked, const diagnose::Report& report,
                    const std::string& incident, std::string_view program);

/// The document; `top`: rows of each list in its text.
std::string html_of(diagnose::Report report, const Beside& beside, std::size_t top);
/// Writes it all or not at all. Exit status: 0; 2 with a message if `html` cannot be written.
int write_html(const diagnose::Report& report, const Beside& beside, std::size_t top,
               const std::filesystem::path& html, std::string_view program);

}  // namespace l4::commands
