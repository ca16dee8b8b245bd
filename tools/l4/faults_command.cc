#include "tools/l4/faults_command.h"

#include "tools/l4/diagnose_command.h"
#include "tools/l4/terminal.h"

namespace l4::cli {

int run_faults(const FaultsOptions& options) {
  const auto settings = load_settings(options.config);
  if (!settings) return fail(settings.error(), kWrongUse, "l4 faults");
  const auto library =
      faults::Library::load(options.faults.empty() ? settings->faults : options.faults);
  if (!library) return fail(library.error(), kWrongUse, "l4 faults");
  switch (options.action) {
    case FaultsOptions::Action::list:
      return list_faults(options, *library);
    case FaultsOptions::Action::show:
      return show_fault(options, *library);
    case FaultsOptions::Action::match:
      return match_faults(options, *settings, *library);
    case FaultsOptions::Action::test:
      break;
  }
  return test_faults(options, *settings, *library);
}

}  // namespace l4::cli
