// The timers of a job that no rule pack names: ids and names of the times that its lines print.
//
// Place in the flow: JobPipeline asks for the times of each new template, and ships the names with
// its batches. Owned by JobPipeline, one thread. Bound: kNamesMax names; times of further names are
// not read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/decode/record.h"
#include "agent/segment/durations.h"
#include "agent/segment/rule_pack.h"
#include "common/wire/definitions.h"

namespace l4::pipeline {

class LearnedTimers {
 public:
  static constexpr std::size_t kNamesMax = 128;

  /// `first`: ids below it belong to the timers of rule packs.
  explicit LearnedTimers(std::size_t first) : first_(first) {}

  /// The times that the lines of a template print, by its first record: ordinary lines of training
  /// tell how long its phases took. `clean` makes a name fit to leave the node; `told` gets the
  /// names that are new.
  template <class Clean>
  std::vector<segment::Duration> find(const decode::Record& record,
                                      const segment::TemplateRole& role, Clean&& clean,
                                      std::vector<wire::TimerName>& told) {
    const bool plain = !record.folded && !record.progress && record.level < Level::warning &&
                       role.stage == Stage::unknown && role.stage_end == Stage::unknown;
    if (!plain) return {};
    std::vector<segment::Duration> found = segment::find_durations(record.text);
    std::erase_if(found, [&](segment::Duration& duration) {
      if (is_named(duration, role)) return true;
      const auto id = id_of(clean(duration.name), duration.kind, told);
      duration.id = id.value_or(0);
      return !id;
    });
    return found;
  }

  const std::vector<wire::TimerName>& names() const { return names_; }

 private:
  /// A rule pack names the time, as what stands before it shows; the times beside it are learned.
  static bool is_named(const segment::Duration& duration, const segment::TemplateRole& role) {
    const auto trimmed = [](std::string_view text) {
      while (!text.empty() && (text.back() == ' ' || text.back() == ':' || text.back() == '='))
        text.remove_suffix(1);
      return text;
    };
    return std::ranges::any_of(role.timers, [&](const segment::Timer* timer) {
      const std::string_view behind = trimmed(timer->number_after);
      return behind.empty() || trimmed(duration.before).ends_with(behind);
    });
  }
  std::optional<std::uint16_t> id_of(std::string name, wire::TimerKind kind,
                                     std::vector<wire::TimerName>& told) {
    for (const wire::TimerName& known : names_)
      if (known.name == name && known.kind == kind) return known.timer;
    if (names_.size() >= kNamesMax) return std::nullopt;
    const auto id = static_cast<std::uint16_t>(first_ + names_.size());
    names_.push_back({id, std::move(name), kind, true});
    told.push_back(names_.back());
    return id;
  }

  std::size_t first_;
  std::vector<wire::TimerName> names_;
};

}  // namespace l4::pipeline
