#include <fmt/format.h>

#include <iostream>

#include "aggregator/faults/self_test.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/faults_command.h"
#include "tools/l4/faults_json.h"
#include "tools/l4/message_of.h"
#include "tools/l4/terminal.h"

namespace l4::cli {

int test_faults(const FaultsOptions& options, const Settings& settings,
                const faults::Library& library) {
  const auto findings = faults::test(
      library, {message_of, settings.codes ? *settings.codes : drain::default_codes()});
  if (options.format == "json") {
    std::cout << to_json(findings, library.faults().size());
  } else {
    for (const faults::Finding& finding : findings)
      std::cout << serve::harmless(finding.text()) << '\n';
    std::cout << fmt::format("{}: {} entries, {} findings\n", library.folder().string(),
                             library.faults().size(), findings.size());
  }
  if (const int written = finish_output("l4 faults test"); written != kDone) return written;
  return findings.empty() ? kDone : kFindings;
}

}  // namespace l4::cli
