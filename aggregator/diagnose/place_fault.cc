#include "aggregator/diagnose/place_fault.h"

#include <algorithm>

namespace l4::diagnose {
namespace {

bool is_explained(const faults::Library& library, const Report& report) {
  return std::ranges::any_of(report.faults, [&](const KnownFault& known) {
    const faults::Fault* fault = library.find(known.id);
    return fault != nullptr && !fault->consequence && fault->severity != Level::info;
  });
}

}  // namespace

void place_fault(const faults::Library& library, Report& report) {
  constexpr std::size_t kAsked = 4;
  if (is_explained(library, report)) return;
  std::optional<faults::Likeness::Placement> best;
  const IndicatingEvent* told = nullptr;
  std::size_t asked = 0;
  for (const IndicatingEvent& event : report.events) {
    if (event.role != Role::root || asked++ == kAsked) break;  // root events come first
    const auto one = library.likeness().place({&event.text, 1});
    if (!one || (best && one->score <= best->score)) continue;
    best = one;
    told = &event;
  }
  if (!best) return;
  const faults::Fault& near = *best->nearest;
  KnownFault guess;
  guess.id = kUnknownFault;
  guess.title = "Unknown; most like: " + near.title;
  guess.category = std::string(faults::name(best->category)) + "/" + best->subcategory;
  guess.confidence = best->confidence;
  guess.cause =
      "Not known: no entry of the fault library matches. The kind of fault is guessed from "
      "the words of the message.";
  guess.fix = "Compare with what is known of " + near.id + " (l4 faults show " + near.id +
              "); once the cause is found, tell it with l4 faults confirm.";
  guess.evidence = {told->id};
  report.faults.push_back(std::move(guess));
  std::ranges::stable_sort(report.faults, std::greater<>{}, &KnownFault::confidence);
}

}  // namespace l4::diagnose
