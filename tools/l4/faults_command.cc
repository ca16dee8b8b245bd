#include "tools/l4/faults_command.h"

#include "tools/l4/diagnose_command.h"
#include "tools/l4/terminal.h"

namespace l4::cli {

int run_faults(const FaultsOptions& options) {
  using enum FaultsOptions::Action;
  if (options.action == confirm) return confirm_fault(options);
  if (options.action == drop) return drop_fault(options);
  if (options.action == keep) return export_faults(options);
  const auto settings = load_settings(options.config);
  if (!settings) return fail(settings.error(), kWrongUse, "l4 faults");
  const auto library =
      faults::Library::load(options.faults.empty() ? settings->faults : options.faults);
  if (!library) return fail(library.error(), kWrongUse, "l4 faults");
  if (options.action == list) return list_faults(options, *library);
  if (options.action == show) return show_fault(options, *library);
  if (options.action == match) return match_faults(options, *settings, *library);
  return test_faults(options, *settings, *library);
}

}  // namespace l4::cli
