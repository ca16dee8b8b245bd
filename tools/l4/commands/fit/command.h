// `l4 fit`: fits how sure reports are to what people have said of this site's incidents.
//
// Flow: labels of a running aggregator, or files of them -> labels.h -> aggregator/fit -> a table
// that l4-aggregator and `l4 diagnose --table` read. The table is changed only where the fit is
// better on claims that it did not see. Blocking.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands::fit {

struct FitOptions : ask::AskOptions {
  std::filesystem::path table;                ///< compared with, and changed; empty: as shipped
  std::vector<std::filesystem::path> labels;  ///< files of labels; empty: the aggregator is asked
  std::size_t seed = 1;                       ///< deals the sources into parts
  bool dry_run = false;
  std::string format = "text";
};

terminal::Command fit_command();

/// Exit status: 0 something is better than the table (and written, where there is one to write); 1
/// nothing is; 2 wrong use, or a table or file that cannot be read or written; 3 the aggregator did
/// not answer.
int run_fit(const FitOptions& options);

}  // namespace l4::commands::fit
