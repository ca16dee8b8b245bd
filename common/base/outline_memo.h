// Values computed from lines, remembered by the outlines of the lines.
// A value is remembered after an outline was seen kSeenMin times, and only if the value does not
// depend on the digits. To test that, the value is computed again for the line with other digits
// (probe()). If only the lengths of the runs matter, the value is remembered by the outline with
// lengths (Outline::sized); if the digits matter, the value is computed for every line. `varies` is
// true for lines in which some numbers matter (codes). One thread; bounded by `entries_max`, at
// which all values are forgotten, and 16 KiB of counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/flat_table.h"
#include "common/base/outline.h"

namespace l4 {

/// The digits that replace those of a line.
struct DigitProbe {
  std::string_view run;  ///< replaces each run of digits, if it is not empty
  char digit = '0';      ///< else this replaces each digit
};
inline constexpr DigitProbe kOtherLengths[] = {
    {"7"}, {"40"}, {"286"}, {"3141"}, {"86753"}, {"299792"}, {"16180339"}, {"271828182845"}, {"6"}};
inline constexpr DigitProbe kOtherDigits[] = {{"", '0'}, {"", '1'}, {"", '4'}, {"", '9'}};

/// The line with other digits, in `out`.
std::string_view probe(std::string_view line, const DigitProbe& with, std::string& out);

template <class Value>
class OutlineMemo {
 public:
  explicit OutlineMemo(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Prefetches the entry of find(), for callers with other work to do first.
  void prefetch(const Outline& outline) const { table_.prefetch(outline.collapsed); }

  /// The value of lines with this outline; null if it must be computed.
  const Value* find(const Outline& outline) {
    const Entry* entry = table_.find(outline.collapsed);
    if (entry == nullptr || entry->kind == Kind::varies) return nullptr;
    if (entry->kind == Kind::by_size) entry = table_.find(outline.sized);
    return entry == nullptr || entry->kind != Kind::known ? nullptr : &entry->value;
  }

  /// Notes the result of `find_out(line)`, for an outline that find() does not know.
  /// `varies(line)`: whether the digits matter in a way that probes do not show.
  template <class FindOut, class Varies>
  void note(const Outline& outline, std::string_view line, const Value& value,
            const FindOut& find_out, const Varies& varies) {
    const Entry* entry = table_.find(outline.collapsed);
    if (entry == nullptr) {
      if (!seen_enough(outline.collapsed)) return;
      put(outline.collapsed, {varies(line) ? Kind::varies : kind_of(line, value, find_out), value});
      entry = table_.find(outline.collapsed);
    }
    if (entry->kind == Kind::by_size && seen_enough(outline.sized))
      put(outline.sized,
          {same(kOtherDigits, line, value, find_out) ? Kind::known : Kind::varies, value});
  }

  /// The known value, else the result of `find_out(line)`, which is noted; see note().
  template <class FindOut, class Varies>
  Value get(const Outline& outline, std::string_view line, const FindOut& find_out,
            const Varies& varies) {
    if (outline.collapsed == 0) return find_out(line);  // the line has no outline
    if (const Value* known = find(outline)) return *known;
    const Value value = find_out(line);
    note(outline, line, value, find_out, varies);
    return value;
  }

  /// Forgets all values; frequent ones are soon known again.
  void clear() { table_ = FlatTable<Entry>(); }
  std::size_t size() const { return table_.size(); }

 private:
  static constexpr std::uint32_t kSeenMin = 4;
  static constexpr std::size_t kSeenSlots = 1 << 12;

  enum class Kind : std::uint8_t { varies, by_size, known };
  struct Entry {
    Kind kind = Kind::varies;
    Value value{};
  };

  template <class Probes, class FindOut>
  bool same(const Probes& probes, std::string_view line, const Value& value,
            const FindOut& find_out) {
    std::string probed;
    for (const DigitProbe& with : probes)
      if (!(find_out(probe(line, with, probed)) == value)) return false;
    return true;
  }

  template <class FindOut>
  Kind kind_of(std::string_view line, const Value& value, const FindOut& find_out) {
    if (!same(kOtherDigits, line, value, find_out)) return Kind::varies;
    return same(kOtherLengths, line, value, find_out) ? Kind::known : Kind::by_size;
  }

  /// Counts an outline; if several share a slot, only the last one is counted.
  bool seen_enough(std::uint64_t key) {
    if (seen_.empty()) seen_.resize(kSeenSlots);
    constexpr std::uint32_t kCount = 0xff;
    std::uint32_t& slot = seen_[key % kSeenSlots];
    const auto tag = static_cast<std::uint32_t>(key >> 32) & ~kCount;
    slot = (slot & ~kCount) == tag ? slot + 1 : tag + 1;
    if ((slot & kCount) < kSeenMin) return false;
    slot = 0;
    return true;
  }

  void put(std::uint64_t key, const Entry& entry) {
    if (table_.size() >= entries_max_) clear();
    table_[key] = entry;
  }

  std::size_t entries_max_;
  FlatTable<Entry> table_;
  std::vector<std::uint32_t> seen_;
};

}  // namespace l4
