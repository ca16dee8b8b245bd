#include <fmt/format.h>

#include <iostream>

#include "aggregator/faults/self_test.h"
#include "aggregator/serve/utf8.h"
#include "offline/message_of.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {

int test_faults(const FaultsOptions& options, const offline::Settings& settings,
                const l4::faults::Library& library) {
  const auto findings = l4::faults::test(
      library, {offline::message_of, settings.codes ? *settings.codes : drain::default_codes()});
  if (options.format == "json") {
    std::cout << to_json(findings, library.faults().size());
  } else {
    for (const l4::faults::EntryError& finding : findings)
      std::cout << serve::harmless(finding.text()) << '\n';
    std::cout << fmt::format("{}: {} entries, {} findings\n", library.folder().string(),
                             library.faults().size(), findings.size());
  }
  if (const int written = terminal::finish_output("l4 faults test"); written != terminal::kDone)
    return written;
  return findings.empty() ? terminal::kDone : terminal::kFindings;
}

}  // namespace l4::commands::faults
