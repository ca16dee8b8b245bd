// The program l4-aggregator: options in, exit status out.

#include <cstdio>
#include <string_view>

#include "aggregator/log.h"
#include "aggregator/program.h"

namespace {

constexpr auto kHelp =
    "usage: l4-aggregator --config FILE [--check-config]\n"
    "       l4-aggregator --version\n"
    "\n"
    "Takes what agents ship, keeps the state of every job, and raises an incident when a job\n"
    "crashes, hangs, slows down, loses a node or fails to launch.\n"
    "\n"
    "  --config FILE    settings; config/aggregator.toml shows all of them\n"
    "  --check-config   reads them, and what they name, says what is wrong, and ends\n"
    "  --version        says which version this is\n"
    "\n"
    "SIGHUP reads the config again, SIGTERM ends it with everything saved.\n";

int wrong_use(const char* what) {
  std::fprintf(stderr, "l4-aggregator: %s\n%s", what, kHelp);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace l4::aggregator;
  std::filesystem::path config;
  bool check_only = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help" || option == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (option == "--version") {
      std::puts("l4-aggregator " L4_VERSION);
      return 0;
    }
    if (option == "--check-config")
      check_only = true;
    else if (option == "--config" && i + 1 < argc)
      config = argv[++i];
    else if (option.starts_with("--config="))
      config = option.substr(std::string_view("--config=").size());
    else
      return wrong_use("an option that is not known, or without its value");
  }
  if (config.empty()) return wrong_use("--config FILE must be given");
  auto settings = load_settings(config);
  if (settings && check_only) {
    const auto checked = check(*settings);
    if (checked) std::puts("the config can be used");
    if (checked) return 0;
    settings = std::unexpected(checked.error());
  }
  if (!settings) {
    std::fprintf(stderr, "l4-aggregator: %s\n", settings.error().text().c_str());
    return 2;
  }
  return run(std::move(*settings), config);
}
