#include "tools/l4/faults_asked.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "common/http/url.h"
#include "tools/l4/faults_json.h"

namespace l4::cli {
namespace {

constexpr Millis kTimeout{30'000};

}  // namespace

Answer<faults::Library> ask_library(const Aggregator& asked, bool confirmed) {
  std::vector<faults::Fault> all;
  std::string after;
  do {
    std::string path = fmt::format("/api/v1/faults?whole=true&confirmed={}", confirmed);
    if (!after.empty()) path += "&after=" + http::percent_encoded(after);
    const auto body = fetch(asked, path, kTimeout);
    if (!body) return std::unexpected(body.error());
    auto page = read_faults(*body);
    if (!page) return misread(asked, page.error());
    if (!page->next.empty() && page->faults.empty())
      return misread(asked, {"$.next", "names a page behind an empty one"});
    std::ranges::move(page->faults, std::back_inserter(all));
    after = std::move(page->next);
  } while (!after.empty());
  return faults::Library().with(std::move(all));
}

Answer<faults::Fault> ask_fault(const Aggregator& asked, const std::string& id) {
  unsigned status = 0;
  const auto body = fetch(asked, "/api/v1/faults/" + http::percent_encoded(id), kTimeout, &status);
  if (!body && status == 404) return std::unexpected(Failure{body.error().error, kWrongUse});
  if (!body) return std::unexpected(body.error());
  auto fault = read_fault(*body);
  if (!fault) return misread(asked, fault.error());
  return std::move(*fault);
}

}  // namespace l4::cli
