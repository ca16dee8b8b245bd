// How many epochs or iterations a run will have, as its settings print it.
//
// Place in the flow: many programs print a counter without its total, but the total among their
// settings when they start: "num_epochs=35" within a Namespace, "EPOCHS: 30" in a table, "max: 40
// epochs", "max_steps: 2500". A template is asked once whether its lines announce a total; the
// segmenter reads the number of each such line and compares the counter with it (EpochCounter).
// A setting of something else (warm-up, how often something is saved, patience) is none: of the
// other words of a name only those pass that stand in a table. Pure function, no allocation, any
// bytes may be given.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace l4::segment {

struct AnnouncedTotals {
  std::optional<std::int64_t> epochs, iterations;

  bool any() const { return epochs || iterations; }
  /// What a later line announces replaces what is known.
  void add(const AnnouncedTotals& later) {
    if (later.epochs) epochs = later.epochs;
    if (later.iterations) iterations = later.iterations;
  }
};

/// The totals that a line announces; of several of one kind the first.
AnnouncedTotals find_announced(std::string_view line);

}  // namespace l4::segment
