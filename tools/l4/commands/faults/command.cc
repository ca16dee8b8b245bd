#include "tools/l4/commands/faults/command.h"

#include "tools/l4/ask/asking.h"
#include "tools/l4/commands/faults/asked.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {
namespace {

/// The library of files, or of an aggregator; then `from` is set to its address.
ask::Answer<l4::faults::Library> library_of(const FaultsOptions& options,
                                            const offline::Settings& settings, std::string& from) {
  const bool of_aggregator = !options.address.empty() || options.confirmed;
  if (of_aggregator && options.faults.empty()) {
    const auto asked = ask::find_aggregator(options);
    if (!asked) return std::unexpected(asked.error());
    from = asked->address;
    return ask_library(*asked, options.confirmed);
  }
  auto library =
      l4::faults::Library::load(options.faults.empty() ? settings.faults : options.faults);
  if (!library)
    return ask::failed(library.error().where, library.error().reason, terminal::kWrongUse);
  return std::move(*library);
}

}  // namespace

int run_faults(const FaultsOptions& options) {
  using enum FaultsOptions::Action;
  if (options.action == confirm) return confirm_fault(options);
  if (options.action == drop) return drop_fault(options);
  if (options.action == keep) return export_faults(options);
  const auto settings = offline::load_settings(options.config);
  if (!settings) return terminal::fail(settings.error(), terminal::kWrongUse, "l4 faults");
  std::string from;
  const auto library = library_of(options, *settings, from);
  if (!library) return terminal::fail(library.error().error, library.error().exit, "l4 faults");
  if (options.action == list) return list_faults(options, *library);
  if (options.action == show) return show_fault(options, *library, from);
  if (options.action == match) return match_faults(options, *settings, *library);
  return test_faults(options, *settings, *library);
}

}  // namespace l4::commands::faults
