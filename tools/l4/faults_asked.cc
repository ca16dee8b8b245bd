#include "tools/l4/faults_asked.h"

#include <fmt/format.h>

#include <utility>

#include "common/http/url.h"
#include "tools/l4/faults_json.h"

namespace l4::cli {
namespace {

constexpr Millis kLookUpTimeout{30'000};

}  // namespace

Answer<faults::Library> ask_library(const Aggregator& asked, bool confirmed) {
  const auto body =
      fetch_list(asked, fmt::format("/api/v1/faults?whole=true&confirmed={}", confirmed), "faults",
                 kLookUpTimeout);
  if (!body) return std::unexpected(body.error());
  auto all = read_faults(*body);
  if (!all) return misread(asked, all.error());
  return faults::Library().with(std::move(*all));
}

Answer<faults::Fault> ask_fault(const Aggregator& asked, const std::string& id) {
  unsigned status = 0;
  const auto body =
      fetch(asked, "/api/v1/faults/" + http::percent_encoded(id), kLookUpTimeout, &status);
  if (!body && status == 404) return std::unexpected(Failure{body.error().error, kWrongUse});
  if (!body) return std::unexpected(body.error());
  auto fault = read_fault(*body);
  if (!fault) return misread(asked, fault.error());
  return std::move(*fault);
}

}  // namespace l4::cli
