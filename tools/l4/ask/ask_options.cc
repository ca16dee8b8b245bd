#include "tools/l4/ask/ask_options.h"

#include <CLI/CLI.hpp>

#include "common/http/url.h"

namespace l4::ask {

void add_asking(CLI::App* command, AskOptions& options) {
  command
      ->add_option("--address", options.address,
                   "where l4-aggregator answers (default: $L4_ADDRESS,\n"
                   "else that of client.toml, else http://127.0.0.1:7440)")
      ->type_name("URL");
  command
      ->add_option("--token-file", options.token_file,
                   "file with the token to ask with (default: $L4_TOKEN)")
      ->type_name("FILE");
  command
      ->add_option("--ca", options.ca,
                   "PEM file of the authorities to believe over https\n"
                   "(default: $L4_CA, else those of the system)")
      ->type_name("FILE");
}

Result<void> check_asking(const AskOptions& options) {
  if (options.address.empty()) return {};
  if (const auto url = http::parse_url(options.address); !url)
    return std::unexpected(Error{"--address: " + url.error().where, url.error().reason});
  return {};
}

}  // namespace l4::ask
