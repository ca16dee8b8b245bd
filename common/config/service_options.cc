#include "common/config/service_options.h"

#include <getopt.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace l4 {
namespace {

constexpr int kDone = 0, kWrongUse = 2;
enum Letter : int { kConfig = 'c', kCheck = 'k', kHelp = 'h', kVersion = 'v' };

ServiceOptions wrong_use(const Service& service, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n%s", service.name, what.c_str(), service.help);
  return {.config = {}, .exit = kWrongUse};
}

}  // namespace

ServiceOptions read_service_options(int argc, char* const* argv, const Service& service,
                                    std::filesystem::path config) {
  constexpr std::array kOptions{option{"config", required_argument, nullptr, kConfig},
                                option{"check-config", no_argument, nullptr, kCheck},
                                option{"help", no_argument, nullptr, kHelp},
                                option{"version", no_argument, nullptr, kVersion},
                                option{nullptr, 0, nullptr, 0}};
  ServiceOptions options{.config = std::move(config), .exit = {}};
  optind = 0;
  opterr = 0;
  // "+": options end at the first other argument, so `at` is the place of the option that is read.
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    const int letter = ::getopt_long(argc, argv, "+:h", kOptions.data(), nullptr);
    if (letter < 0) break;
    switch (letter) {
      case kConfig:
        options.config = optarg;
        break;
      case kCheck:
        options.check_only = true;
        break;
      case kHelp:
        std::fputs(service.help, stdout);
        return {.config = {}, .exit = kDone};
      case kVersion:
        std::printf("%s %s\n", service.name, service.version);
        return {.config = {}, .exit = kDone};
      case ':':
        return wrong_use(service, std::string(argv[at]) + " needs a value");
      default:
        return wrong_use(service, std::string(argv[at]) + " is no option of this program");
    }
  }
  if (optind < argc) return wrong_use(service, std::string("unexpected argument ") + argv[optind]);
  if (options.config.empty()) return wrong_use(service, "--config FILE must be given");
  return options;
}

}  // namespace l4
