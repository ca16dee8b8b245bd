#include "aggregator/detect/delay/pauses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"
#include "common/base/ascii.h"

namespace l4::detect::delay {
namespace {

using job::Iterations;

/// Beginnings of words.
constexpr std::array<std::string_view, 15> kWords{
    "checkpoint", "ckpt", "saving", "saved",  "save",       "valid", "eval", "epoch",
    "garbage",    "gc",   "compil", "profil", "generating", "resum", "warm",
};

bool is_pause_stage(Stage stage) {
  return stage == Stage::evaluation || stage == Stage::checkpoint_save ||
         stage == Stage::checkpoint_load;
}

/// The stream was in such a stage at some time of the iteration.
bool has_pause_stage(const job::Stream& stream, const Iterations::value_type& entry,
                     const Iterations::value_type* before) {
  if (!entry.second.end || before == nullptr || !before->second.end) return false;
  return std::ranges::any_of(stream.stages, [&](const job::StageChange& change) {
    if (!is_pause_stage(change.stage) || !change.time) return false;
    return *change.time <= *entry.second.end &&
           change.end.value_or(*change.time) >= *before->second.end;
  });
}

bool has(const job::StreamView& stream, const job::IterationRecord& record, std::uint32_t local) {
  const job::Sequence& printed = stream.agent->sequences.at(record.sequence);
  return std::ranges::find(printed, local) != printed.end();
}

/// In how many other iterations a line was printed, and how many of them took long.
struct Others {
  std::size_t all = 0, longs = 0;

  bool are_long() const { return all > 0 && longs * 2 > all; }
  bool are_short() const { return all > 1 && longs * 2 < all; }
};

/// The other iterations of this stream, and the first and last ones of the other streams.
Others others_of(const job::StreamView& stream, const job::EventView& event, std::uint32_t local,
                 Iteration iteration, const std::function<bool(Iteration)>& is_long) {
  constexpr std::size_t kOccurrencesMax = 64;
  Others others;
  const auto add = [&](Iteration other) {
    if (other == iteration) return;
    ++others.all;
    others.longs += is_long(other) ? 1 : 0;
  };
  for (const auto& [other, record] : stream.state->iterations)
    if (has(stream, record, local)) add(other);
  const std::size_t step = std::max<std::size_t>(1, event.at.size() / kOccurrencesMax);
  for (std::size_t i = 0; i < event.at.size(); i += step) {
    const job::EventStats& stats = event.at[i].stats;
    if (stats.first_iteration) add(*stats.first_iteration);
    if (stats.last_iteration && stats.last_iteration != stats.first_iteration)
      add(*stats.last_iteration);
  }
  return others;
}

}  // namespace

bool names_pause(std::string_view text) {
  bool begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool letter = is_letter(text[i]);
    if (letter && begins)
      for (const std::string_view word : kWords) {
        const std::string_view part = text.substr(i, word.size());
        const bool whole =
            word.size() > 2 || i + word.size() >= text.size() || !is_letter(text[i + word.size()]);
        if (whole && std::ranges::equal(part, word, {}, [](char c) { return lower(c); }))
          return true;
      }
    begins = !letter;
  }
  return false;
}

bool is_pause(const job::JobView& view, Iteration iteration,
              const std::function<bool(Iteration)>& is_long) {
  std::set<TemplateId> looked;
  std::size_t printing = 0, novel = 0;
  for (const job::StreamView& stream : view.streams) {
    const Iterations& all = stream.state->iterations;
    const auto entry = std::ranges::lower_bound(all, iteration, {}, &Iterations::value_type::first);
    if (entry == all.end() || entry->first != iteration) continue;
    const Iterations::value_type* before = entry == all.begin() ? nullptr : &*(entry - 1);
    if (has_pause_stage(*stream.state, *entry, before)) return true;
    ++printing;
    bool is_novel = false;
    for (const std::uint32_t local : stream.agent->sequences.at(entry->second.sequence)) {
      const job::EventStats* stats = stream.state->events.find(local);
      if (stats == nullptr || stats->count * 2 > all.size()) continue;
      const TemplateId id =
          view.state->templates().resolve(stream.agent->node_index, LocalTemplateId{local});
      const auto event = std::ranges::lower_bound(view.events, id, {}, &job::EventView::id);
      if (event == view.events.end() || event->id != id) continue;
      is_novel = is_novel || (event->level < Level::warning && stats->first_iteration == iteration);
      if (!looked.insert(id).second) continue;
      // What other iterations print that take no longer than usual explains nothing.
      const Others others = others_of(stream, *event, local, iteration, is_long);
      if (others.are_short()) continue;
      if (names_pause(event->text) || (event->level < Level::warning && others.are_long()))
        return true;
    }
    novel += is_novel ? 1 : 0;
  }
  // What is new on most ranks at once is another phase of the job, and nobody's delay.
  return novel * 2 > printing;
}

}  // namespace l4::detect::delay
