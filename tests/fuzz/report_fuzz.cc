// Arbitrary bytes as a saved report: they are refused with the path of the field, or the report is
// read, shown and compared, and is equal after writing it.
#include <algorithm>
#include <string>

#include "aggregator/serve/report_diff.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::fuzz::require;

/// No output moves a cursor or hides text, whatever the report contains.
bool is_harmless(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const auto report = l4::serve::report_from_json(input.text);
  if (!report) {
    require(!report.error().reason.empty(), "a refusal has a reason");
    require(is_harmless(report.error().reason), "and can be shown");
    return 0;
  }
  const std::string written = l4::serve::to_json(*report);
  const auto again = l4::serve::report_from_json(written);
  require(again.has_value(), "what was read can be written and read again");
  require(l4::serve::to_json(*again) == written, "and stays what it is");
  l4::serve::TextStyle style;
  style.width = 40 + input.steer % 160;
  style.top = 1 + input.steer % 12;
  require(is_harmless(l4::serve::to_text(*report, style)), "a page is harmless");
  require(is_harmless(l4::serve::diff_text(*report, *again, style)), "a comparison, too");
  (void)l4::serve::diff_json(*report, *again);
  return 0;
}
