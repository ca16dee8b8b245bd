// The program l4-aggregator: options in, exit status out.

#include <cstdio>
#include <utility>

#include "aggregator/log.h"
#include "aggregator/program.h"
#include "common/config/service_options.h"

namespace {

constexpr auto kHelp =
    "usage: l4-aggregator --config FILE [--check-config]\n"
    "       l4-aggregator --help | --version\n"
    "\n"
    "Takes what agents ship, keeps the state of every job, and raises an incident when a job\n"
    "crashes, hangs, slows down, loses a node or fails to launch.\n"
    "\n"
    "  --config FILE    settings; config/aggregator.toml shows all of them\n"
    "  --check-config   reads them, and what they name, says what is wrong, and ends\n"
    "  --version        says which version this is\n"
    "\n"
    "SIGHUP reads the config again, SIGTERM ends it with everything saved.\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace l4::aggregator;
  const auto options = l4::read_service_options(argc, argv, {"l4-aggregator", L4_VERSION, kHelp});
  if (options.exit) return *options.exit;
  auto settings = start_settings(options.config);
  if (settings && options.check_only) {
    const auto checked = check(*settings);
    if (checked) std::puts("the config can be used");
    if (checked) return 0;
    settings = std::unexpected(checked.error());
  }
  if (!settings) {
    std::fprintf(stderr, "l4-aggregator: %s\n", settings.error().text().c_str());
    return 2;
  }
  return run(std::move(*settings), options.config);
}
