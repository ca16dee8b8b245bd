#include "tools/l4/commands/faults/asked.h"

#include <fmt/format.h>

#include <utility>

#include "common/http/url.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"

namespace l4::commands::faults {
namespace {

constexpr Millis kLookUpTimeout{30'000};

}  // namespace

ask::Answer<l4::faults::Library> ask_library(const ask::Aggregator& asked, bool confirmed) {
  const auto body =
      ask::fetch_list(asked, fmt::format("/api/v1/faults?whole=true&confirmed={}", confirmed),
                      "faults", kLookUpTimeout);
  if (!body) return std::unexpected(body.error());
  auto all = read_faults(*body);
  if (!all) return ask::misread(asked, all.error());
  return l4::faults::Library().with(std::move(*all));
}

ask::Answer<l4::faults::Fault> ask_fault(const ask::Aggregator& asked, const std::string& id) {
  const auto body =
      ask::fetch(asked, "/api/v1/faults/" + http::percent_encoded(id), kLookUpTimeout);
  if (!body && body.error().status == 404)
    return std::unexpected(ask::Failure{body.error().error, terminal::kWrongUse});
  if (!body) return std::unexpected(body.error());
  auto fault = read_fault(*body);
  if (!fault) return ask::misread(asked, fault.error());
  return std::move(*fault);
}

}  // namespace l4::commands::faults
