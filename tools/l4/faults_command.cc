#include "tools/l4/faults_command.h"

#include "tools/l4/asking.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/faults_asked.h"
#include "tools/l4/terminal.h"

namespace l4::cli {
namespace {

/// Of files, or of the aggregator that `from` is then the address of.
Answer<faults::Library> library_of(const FaultsOptions& options, const Settings& settings,
                                   std::string& from) {
  const bool of_aggregator = !options.address.empty() || options.confirmed;
  if (of_aggregator && options.faults.empty()) {
    const auto asked = find_aggregator(options);
    if (!asked) return std::unexpected(asked.error());
    from = asked->address;
    return ask_library(*asked, options.confirmed);
  }
  auto library = faults::Library::load(options.faults.empty() ? settings.faults : options.faults);
  if (!library) return failed(library.error().where, library.error().reason, kWrongUse);
  return std::move(*library);
}

}  // namespace

int run_faults(const FaultsOptions& options) {
  using enum FaultsOptions::Action;
  if (options.action == confirm) return confirm_fault(options);
  if (options.action == drop) return drop_fault(options);
  if (options.action == keep) return export_faults(options);
  const auto settings = load_settings(options.config);
  if (!settings) return fail(settings.error(), kWrongUse, "l4 faults");
  std::string from;
  const auto library = library_of(options, *settings, from);
  if (!library) return fail(library.error().error, library.error().exit, "l4 faults");
  if (options.action == list) return list_faults(options, *library);
  if (options.action == show) return show_fault(options, *library, from);
  if (options.action == match) return match_faults(options, *settings, *library);
  return test_faults(options, *settings, *library);
}

}  // namespace l4::cli
