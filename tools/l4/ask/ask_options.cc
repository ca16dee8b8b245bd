#include "tools/l4/ask/ask_options.h"

#include "common/http/url.h"

namespace l4::ask {

void add_asking(terminal::Options& to, AskOptions& options, const char* address) {
  to.value("--address", options.address, "URL", address);
  to.value("--token-file", options.token_file, "FILE",
           "file with the token to ask with (default: $L4_TOKEN)");
  to.value("--ca", options.ca, "FILE",
           "PEM file of the authorities to believe over https\n"
           "(default: $L4_CA, else those of the system)");
}

Result<void> check_asking(const AskOptions& options) {
  if (options.address.empty()) return {};
  if (const auto url = http::parse_url(options.address); !url)
    return std::unexpected(Error{"--address: " + url.error().where, url.error().reason});
  return {};
}

}  // namespace l4::ask
