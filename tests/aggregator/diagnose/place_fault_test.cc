// A failure that no known fault explains gets a guess, or no guess if nothing is near.
#include "aggregator/diagnose/place_fault.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::diagnose {
namespace {

const faults::Library& library() {
  static const faults::Library loaded = [] {
    auto result = faults::Library::load(L4_SOURCE_DIR "/config/faults");
    if (!result) FAIL(result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

Report report_of(const std::string& text, Role role) {
  Report report;
  IndicatingEvent event;
  event.id = TemplateId{7};
  event.text = text;
  event.role = role;
  report.events = {event};
  return report;
}

constexpr auto kAlike = "NVRM: GPU memory page retirement of the framebuffer failed";

TEST_CASE("a guess names the kind, its confidence, and what it is like") {
  Report report = report_of(kAlike, Role::root);
  report.faults = {{"elastic_child_failed", "An echo", "user/program", 0.15, "c", "f", {}}};
  place_fault(library(), report);
  REQUIRE(report.faults.size() == 2);
  const KnownFault& guess = report.faults.front();
  CHECK(guess.id == kUnknownFault);
  CHECK(guess.category == "hardware/accelerator");
  CHECK(guess.confidence >= 0.6);
  CHECK(guess.confidence <= faults::Likeness::kConfidenceMax);
  CHECK(guess.evidence == std::vector<TemplateId>{TemplateId{7}});
  CHECK_FALSE(guess.cause.empty());
  CHECK_FALSE(guess.fix.empty());
}

TEST_CASE("no guess: unlike everything, no root, or a known cause") {
  for (Report report :
       {report_of("zyxwv qponm of lkjih", Role::root), report_of(kAlike, Role::direct), Report{}}) {
    place_fault(library(), report);
    CHECK(report.faults.empty());
  }
  Report known = report_of(kAlike, Role::root);
  known.faults = {{"xid_off_the_bus", "t", "hardware/accelerator", 0.9, "c", "f", {}}};
  place_fault(library(), known);
  CHECK(known.faults.size() == 1);
  Report nothing = report_of(kAlike, Role::root);
  place_fault(faults::Library(), nothing);
  CHECK(nothing.faults.empty());
}

}  // namespace
}  // namespace l4::diagnose
