// The numbers in a line that may tell how far training is: one grammar for all forms.
//
// Place in the flow: IterationLearner reads lines with it, the segmenter reads epochs with it. A
// whole number counts something if its surroundings say so: a word before it ("step 5",
// `"num_updates": "30"`) or behind it ("200/2983 batches"), a total behind it ("5/120", "5 of
// 120"), tqdm's clock or a drawn bar behind it ("12000it [35:34", "5/90 [=="), or an epoch before
// it ("Epoch: [0][511/1736]"). The words stand in one table, each with an example. An epoch beside
// another counter is the outer of the two, and no counter of its own. Pure functions; no
// allocation, no regex; any bytes may be given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace l4::segment {

/// What a number counts.
enum class Unit : std::uint8_t { unknown, sample, iteration, epoch };

/// What makes a number a counter, the strongest sign last: nothing, a total, a drawn bar, a word.
enum class Sign : std::uint8_t { none, total, bar, word };

struct Counter {
  std::int64_t value = 0;
  std::int64_t total = 0;  ///< 0 if none is printed
  Unit unit = Unit::unknown;
  Sign sign = Sign::none;
  bool in_epoch = false;   ///< stands right behind an epoch, in brackets or before a total
  bool leads = false;      ///< has no sign, but begins the line, set apart by a colon or a bracket
  std::uint32_t name = 0;  ///< hash of the word; 0 if none
};

/// What a bar shows by the words before it and the unit of its rate. `other`: they say nothing.
enum class BarKind : std::uint8_t { training, other, evaluation, preparation };

struct Counters {
  static constexpr std::size_t kMax = 8;  ///< further numbers of a line are not looked at
  std::array<Counter, kMax> items{};
  std::size_t size = 0;
  std::optional<std::int64_t> epoch;  ///< the outer counter of the line
  std::int64_t epoch_total = 0;       ///< 0 if none is printed
  std::optional<std::size_t> bar;     ///< index of the counter that a bar shows
  BarKind bar_kind = BarKind::training;
};

/// The counters of a line, in its order.
void find_counters(std::string_view line, Counters& out);

struct Epoch {
  std::int64_t number = 0;
  std::int64_t total = 0;  ///< 0 if none is printed
};
/// The epoch that a line names ("Epoch:[ 2/ 3]", "epoch 2", "Epoch(train) [2]"); "epochs" and 0.4
/// do not count.
std::optional<Epoch> find_epoch(std::string_view line);
/// Its number.
std::optional<std::int64_t> epoch_in(std::string_view line);

/// What else the words of a line speak of.
struct Company {
  bool measured = false;     ///< a loss, a rate or a time stands beside the numbers
  bool training = false;     ///< a word says that the line is about training
  bool evaluation = false;   ///< the line is about an evaluation, not about training
  bool preparation = false;  ///< something is loaded, converted, saved and so on
};
Company company_of(std::string_view line);

}  // namespace l4::segment
